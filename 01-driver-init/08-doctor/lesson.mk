# Two versions of a library, own/libdnn.so.9 and older/libdnn.so.9, and a framework that needs it, built twice: with the search path own/
# as an rpath, and as a runpath.
DOCTOR := build/01-driver-init/08-doctor
EXTRA.01-driver-init/08-doctor = $(DOCTOR)/libframework-rpath.so $(DOCTOR)/libframework-runpath.so $(DOCTOR)/older/libdnn.so.9
# The program, and its edited copies, find the framework. (An rpath: under AddressSanitizer, dlopen() ignores the program's runpath.)
LIBS.01-driver-init/08-doctor = -Wl,--disable-new-dtags '-Wl,-rpath,$$ORIGIN:$$ORIGIN/../../../../01-driver-init/08-doctor'
DNN_VERSION.own := 9.19
DNN_VERSION.older := 9.1

$(DOCTOR)/own/libdnn.so.9 $(DOCTOR)/older/libdnn.so.9: $(DOCTOR)/%/libdnn.so.9: 01-driver-init/08-doctor/dnn.cpp build/flags.lessons
	$(call step,compile)
	$(Q)$(CXX) $(LESSON_FLAGS) $(CXXFLAGS) $(LDFLAGS) -shared -fPIC '-DDNN_VERSION="$(DNN_VERSION.$*)"' -Wl,-soname,libdnn.so.9 $< -o $@

TAGS.rpath := -Wl,--disable-new-dtags
TAGS.runpath := -Wl,--enable-new-dtags
$(DOCTOR)/libframework-rpath.so $(DOCTOR)/libframework-runpath.so: $(DOCTOR)/libframework-%.so: \
    01-driver-init/08-doctor/framework.cpp $(DOCTOR)/own/libdnn.so.9
	$(call step,compile)
	$(Q)$(CXX) $(LESSON_FLAGS) $(CXXFLAGS) $(LDFLAGS) -shared -fPIC $< $(DOCTOR)/own/libdnn.so.9 $(TAGS.$*) '-Wl,-rpath,$$ORIGIN/own' -o $@
