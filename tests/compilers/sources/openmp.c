// Target regions by GCC's offloading compiler: its PTX, its OpenMP library in PTX, and its plug-in that calls the driver.
// Ends with status 0 if everything is as on the host.
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#pragma omp declare target
static int collatz(long n) { return n == 1 ? 0 : 1 + collatz(n % 2 ? 3 * n + 1 : n / 2); }
static int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
#pragma omp end declare target

static int failures = 0;
static void expect(const char* what, double got, double want) {
  if (fabs(got - want) <= 1e-9 * fabs(want)) return;
  printf("%s: %.17g, not %.17g\n", what, got, want);
  ++failures;
}

int main(void) {
  enum { N = 500 };
  static double x[N], y[N], m[20][20];
  int on_host = 1;
#pragma omp target map(tofrom : on_host)
  on_host = omp_is_initial_device();
  if (on_host) return puts("no device"), 2;

  double sum = 0, want = 0;
  long steps = 0, host_steps = 0;
  for (int i = 0; i < N; ++i) x[i] = i * 0.5, y[i] = 1;
#pragma omp target teams distribute parallel for map(tofrom : y) map(to : x) reduction(+ : sum)
  for (int i = 0; i < N; ++i) {
    y[i] += 2 * x[i];
    sum += y[i];
  }
  for (int i = 0; i < N; ++i) want += 1 + 2 * (i * 0.5);
  expect("sum", sum, want);
  expect("element", y[N - 1], 1 + (N - 1));

#pragma omp target teams distribute parallel for collapse(2) map(from : m)
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 20; ++j) m[i][j] = i * 100 + j + table[(i + j) % 8];
  expect("collapse", m[7][13], 713 + table[20 % 8]);

#pragma omp target teams distribute parallel for reduction(+ : steps) map(tofrom : steps)
  for (int i = 1; i < 60; ++i) steps += collatz(i);
  for (int i = 1; i < 60; ++i) host_steps += collatz(i);
  expect("recursion", (double)steps, (double)host_steps);

  int most = 0, count = 0;
#pragma omp target map(tofrom : most, count)
#pragma omp parallel num_threads(64) reduction(max : most)
  {
    most = omp_get_thread_num() * 3;
#pragma omp atomic
    count++;
#pragma omp barrier
#pragma omp critical
    count += 1;
  }
  expect("threads", count, 2 * (most / 3 + 1));

  double* on_device = omp_target_alloc(sizeof x, omp_get_default_device());
#pragma omp target teams distribute parallel for simd is_device_ptr(on_device)
  for (int i = 0; i < N; ++i) on_device[i] = sqrt((double)i);
  omp_target_memcpy(y, on_device, sizeof y, 0, 0, omp_get_initial_device(), omp_get_default_device());
  omp_target_free(on_device, omp_get_default_device());
  expect("square root", y[400], 20);
  return failures != 0;
}
