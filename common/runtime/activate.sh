# Switches a shell over to the simulated GPU:  . build/simulator/activate  (make copies this file there)
# From then on, `nvcc prog.cu -o prog && ./prog` needs no GPU. `deactivate` undoes it. `cudasim activate` of the Python
# package prints this file, with the folders before it.

if [ -z "${_simulated_folders:-}" ]; then
  if [ -n "${BASH_VERSION:-}" ]; then
    _simulated_here=${BASH_SOURCE[0]}
  elif [ -n "${ZSH_VERSION:-}" ]; then
    eval '_simulated_here=${(%):-%x}'
  else
    echo 'This file works in bash and zsh only.' >&2
    return 1
  fi
  _simulated_root=$(cd "$(dirname "$_simulated_here")/../.." && pwd)
  unset _simulated_here
  if [ ! -e "$_simulated_root/build/runtime/libcudart.so.13" ] || [ ! -e "$_simulated_root/build/simulator/libcuda.so.1" ]; then
    echo "The simulated GPU is not built. Type: make -C $_simulated_root simulator" >&2
    unset _simulated_root
    return 1
  fi
  _simulated_folders=$_simulated_root/build/runtime:$_simulated_root/build/simulator
  _simulated_nvcc=$_simulated_root/build/toolkit/bin
fi

# Remembers a variable and gives it a new value.
_simulated_set() {
  eval "_simulated_had_$1=\${$1+yes} _simulated_old_$1=\${$1:-}"
  eval "export $1=\$2"
}
_simulated_restore() {
  eval "if [ -n \"\$_simulated_had_$1\" ]; then export $1=\"\$_simulated_old_$1\"; else unset $1; fi"
  eval "unset _simulated_had_$1 _simulated_old_$1"
}

_simulated_undo() {
  for _simulated_name in SIMULATED_GPU LD_LIBRARY_PATH LIBRARY_PATH CMAKE_LIBRARY_PATH NVCC_APPEND_FLAGS PATH; do
    _simulated_restore "$_simulated_name"
  done
  unset -f _simulated_set _simulated_restore _simulated_undo "$_simulated_word"
  unset _simulated_name _simulated_word
  hash -r 2>/dev/null
  echo 'The simulated GPU is no longer used.'
}

_simulated_switch() {
  _simulated_set SIMULATED_GPU "$_simulated_folders"
  _simulated_set LD_LIBRARY_PATH "$_simulated_folders${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  _simulated_set LIBRARY_PATH "$_simulated_folders${LIBRARY_PATH:+:$LIBRARY_PATH}"
  # CMake's find_package(CUDAToolkit) wants a libcudart.so, which NVIDIA's wheels lack.
  _simulated_set CMAKE_LIBRARY_PATH "$_simulated_folders${CMAKE_LIBRARY_PATH:+:$CMAKE_LIBRARY_PATH}"
  _simulated_set NVCC_APPEND_FLAGS "${NVCC_APPEND_FLAGS:+$NVCC_APPEND_FLAGS }-cudart shared --no-compress"
  # A virtual environment has a function of that name, too.
  _simulated_word=deactivate
  [ "$(command -v deactivate)" != deactivate ] || _simulated_word=deactivate_simulator
  eval "$_simulated_word() { _simulated_undo; }"
  echo 'CUDA programs that you start from this shell now run on the simulated GPU.'
  echo "  LD_LIBRARY_PATH    begins with $_simulated_folders"
  echo '  LIBRARY_PATH       begins with the same'
  echo '  CMAKE_LIBRARY_PATH begins with the same'
  if [ -z "${_simulated_first:-}" ] && command -v nvcc >/dev/null 2>&1; then
    _simulated_set PATH "$PATH"
  else
    _simulated_place=ends
    if [ -n "${_simulated_first:-}" ]; then  # before an nvcc whose PTX is too new for the simulator
      _simulated_place=begins
      _simulated_set PATH "$_simulated_nvcc:$PATH"
    else
      _simulated_set PATH "$PATH:$_simulated_nvcc"
    fi
    # Of NVIDIA's wheels, nvcc does not find the folder of the device runtime.
    NVCC_APPEND_FLAGS="$NVCC_APPEND_FLAGS -L${_simulated_nvcc%/bin}/lib"
    echo "  PATH               $_simulated_place with $_simulated_nvcc (nvcc)"
  fi
  echo "  NVCC_APPEND_FLAGS  is $NVCC_APPEND_FLAGS"
  echo "Compile programs again that were compiled before. Type $_simulated_word to undo this."
  hash -r 2>/dev/null
}

if [ -n "${SIMULATED_GPU:-}" ]; then
  echo "The simulated GPU in $SIMULATED_GPU is active already. Type ${_simulated_word:-exit} first."
else
  _simulated_switch
fi
unset -f _simulated_switch
unset _simulated_folders _simulated_nvcc _simulated_root _simulated_first _simulated_place
true
