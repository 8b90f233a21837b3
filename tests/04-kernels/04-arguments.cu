// The kernel with which launch_packed() is tested: it stores the sum of its arguments.

struct Pair {
  char first;
  int second;
};

extern "C" __global__ void sum(char a, double b, Pair pair, short c, double* result) {
  *result = a + b + pair.first + pair.second + c;
}
