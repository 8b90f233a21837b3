// A server without Python. It reads one request per line from standard input and writes one line for each.
//
//   serve LIBRARY PACKAGE DEVICE          LIBRARY contains the op that the package calls; "-" for no library
//
//   run ROWS COLUMNS x...                 y, in the same form
//   replay ROWS COLUMNS x...              y from a CUDA graph that was captured with zeros
//   time ROWS COLUMNS RUNS                microseconds of a run
//   op NAMESPACE::NAME                    the dispatch keys of the op in this process
//   python                                how many files of Python this process has mapped
#include "05-extension/15-without-python/model.hpp"

#include <dlfcn.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace {

constexpr std::int64_t kMostValues = 1 << 24;

Matrix read_shape(std::istream& in) {
  Matrix x;
  if (!(in >> x.rows >> x.columns) || x.rows < 0 || x.columns < 0 ||
      (x.columns > 0 && x.rows > kMostValues / x.columns))
    throw std::runtime_error("a request needs a number of rows and a number of columns");
  x.values.resize(static_cast<std::size_t>(x.rows * x.columns));
  return x;
}

Matrix read_matrix(std::istream& in) {
  Matrix x = read_shape(in);
  for (float& value : x.values)
    if (!(in >> value)) throw std::runtime_error("a request needs rows x columns numbers");
  return x;
}

std::string written(const Matrix& y) {
  std::ostringstream line;
  line.precision(9);  // enough to read back the same float
  line << y.rows << ' ' << y.columns;
  for (float value : y.values) line << ' ' << value;
  return line.str();
}

// Python's code is either in a library, libpython or PyTorch's own libtorch_python, or in the program itself.
std::string python_in_this_process() {
  std::ifstream maps("/proc/self/maps");
  int files = 0;
  for (std::string line; std::getline(maps, line);)
    files += line.find("libpython") != std::string::npos || line.find("libtorch_python") != std::string::npos;
  return files == 0 && dlsym(RTLD_DEFAULT, "Py_IsInitialized") == nullptr ? "no" : "yes";
}

std::string reply(Model& model, const std::string& request) {
  std::istringstream in(request);
  std::string word;
  in >> word;
  if (word == "run") return written(model.run(read_matrix(in)));
  if (word == "replay") {
    const Matrix x = read_matrix(in);
    return written(model.replay({x.rows, x.columns, std::vector<float>(x.values.size())}, x));
  }
  if (word == "time") {
    const Matrix x = read_shape(in);
    int runs = 0;
    if (!(in >> runs) || runs < 1) throw std::runtime_error("a request for a time needs a number of runs");
    return std::to_string(model.microseconds(x, runs));
  }
  if (word == "op") {
    in >> word;
    std::string line = "schema";
    for (const std::string& key : dispatch_keys(word)) line += " " + key;
    return line;
  }
  if (word == "python") return python_in_this_process();
  throw std::runtime_error("unknown request: " + word);
}

void serve(Model& model) {
  for (std::string request; std::getline(std::cin, request);) {
    try {
      std::cout << reply(model, request) << std::endl;
    } catch (const std::exception& error) {
      std::cout << "error: " << reason(error) << std::endl;
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::cerr << "usage: serve LIBRARY PACKAGE DEVICE\n";
    return 2;
  }
  setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", 0);
  try {
    const std::string library = arguments[1];
    // RTLD_GLOBAL allows the package to find a C shim (shim.cpp) in the library.
    if (library != "-" && !dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL)) throw std::runtime_error(dlerror());
    const std::unique_ptr<Model> model = load(arguments[2], arguments[3]);
    serve(*model);
  } catch (const std::exception& error) {
    std::cerr << "serve: " << reason(error) << '\n';
    return 1;
  }
}
