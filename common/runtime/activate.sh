# Switches a shell of bash or zsh over to the simulated GPU:  . build/simulator/activate
# From then on, `nvcc prog.cu -o prog && ./prog` needs no GPU. `deactivate` undoes it. (make copies this file there.)

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

if [ -n "${SIMULATED_GPU:-}" ]; then
  echo "The simulated GPU of $SIMULATED_GPU is active already. Type deactivate first."
  unset _simulated_root
  return 0
fi
if [ ! -e "$_simulated_root/build/runtime/libcudart.so.13" ] || [ ! -e "$_simulated_root/build/simulator/libcuda.so.1" ]; then
  echo "The simulated GPU is not built. Type: make -C $_simulated_root simulator" >&2
  unset _simulated_root
  return 1
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

_simulated_set SIMULATED_GPU "$_simulated_root"
_simulated_set LD_LIBRARY_PATH "$_simulated_root/build/runtime:$_simulated_root/build/simulator${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
_simulated_set LIBRARY_PATH "$_simulated_root/build/runtime:$_simulated_root/build/simulator${LIBRARY_PATH:+:$LIBRARY_PATH}"
_simulated_set NVCC_APPEND_FLAGS "${NVCC_APPEND_FLAGS:+$NVCC_APPEND_FLAGS }-cudart shared --no-compress"
if command -v nvcc >/dev/null 2>&1; then
  _simulated_path=
  _simulated_set PATH "$PATH"
else
  _simulated_path="$_simulated_root/build/toolkit/bin"
  _simulated_set PATH "$PATH:$_simulated_path"
fi

deactivate() {
  for _simulated_name in SIMULATED_GPU LD_LIBRARY_PATH LIBRARY_PATH NVCC_APPEND_FLAGS PATH; do
    _simulated_restore "$_simulated_name"
  done
  unset _simulated_name
  unset -f _simulated_set _simulated_restore deactivate
  hash -r 2>/dev/null
  echo 'The simulated GPU is no longer used.'
}

cat <<END
CUDA programs that you start from this shell now run on the simulated GPU.
  LD_LIBRARY_PATH    begins with build/runtime (libcudart) and build/simulator (libcuda)
  LIBRARY_PATH       begins with the same folders
  NVCC_APPEND_FLAGS  ends with -cudart shared --no-compress
END
[ -z "$_simulated_path" ] || echo "  PATH               ends with build/toolkit/bin (nvcc)"
echo 'Compile programs again that were compiled before. Type deactivate to undo this.'
unset _simulated_path _simulated_root
hash -r 2>/dev/null
true
