// OpenACC by GCC: loops and reductions, gangs, workers and vectors, data regions, queues that wait for one another,
// atomics, routines, memory of the device.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4096, ROWS = 32, COLUMNS = 96 };
static int wrong;

static void check(const char* what, double got, double want) {
  if (got == want) return;
  printf("%s: %g instead of %g\n", what, got, want);
  wrong = 1;
}

#pragma acc routine seq
static float polynomial(float x) { return 1 + x * (2 + x * 3); }

#pragma acc routine vector
static void scale(float* row, int n, float by) {
#pragma acc loop vector
  for (int i = 0; i < n; i++) row[i] *= by;
}

static void reductions(const float* a, float* b) {
  double sum = 0, expected = 0;
  int most = -1, all = 1;
#pragma acc data copyin(a [0:N]) copyout(b [0:N])
  {
#pragma acc parallel loop
    for (int i = 0; i < N; i++) b[i] = polynomial(a[i]);
#pragma acc parallel loop reduction(+ : sum) reduction(max : most) reduction(&& : all)
    for (int i = 0; i < N; i++) {
      sum += b[i];
      most = most > (int)a[i] ? most : (int)a[i];
      all = all && b[i] >= 1;
    }
  }
  for (int i = 0; i < N; i++) expected += 1 + a[i] * (2 + a[i] * 3);
  check("a sum", sum, expected);
  check("a maximum", most, 99);
  check("all", all, 1);
  check("what came back", b[99], polynomial(99));
}

static void levels(void) {
  static float m[ROWS][COLUMNS];
#pragma acc parallel loop gang copyout(m) num_gangs(16) num_workers(4) vector_length(32)
  for (int y = 0; y < ROWS; y++) {
#pragma acc loop worker vector
    for (int x = 0; x < COLUMNS; x++) m[y][x] = y * COLUMNS + x;
  }
#pragma acc parallel loop collapse(2) copy(m)
  for (int y = 0; y < ROWS; y++)
    for (int x = 0; x < COLUMNS; x++) m[y][x] += 1;
#pragma acc parallel loop gang copy(m) vector_length(64)
  for (int y = 0; y < ROWS; y++) scale(m[y], COLUMNS, 2);
#pragma acc kernels copy(m)
  for (int y = 0; y < ROWS; y++)
    for (int x = 0; x < COLUMNS; x++) m[y][x] = m[y][x] / 2 - 1;
  int misplaced = 0;
  for (int y = 0; y < ROWS; y++)
    for (int x = 0; x < COLUMNS; x++) misplaced += m[y][x] != y * COLUMNS + x;
  check("gangs, workers, vectors", misplaced, 0);
}

static void queues(float* a, float* b) {
  enum { PARTS = 4, SHARE = N / PARTS };
#pragma acc enter data create(b [0:N]) copyin(a [0:N])
  for (int p = 0; p < PARTS; p++) {
#pragma acc parallel loop async(p) present(a [0:N], b [0:N])
    for (int i = p * SHARE; i < (p + 1) * SHARE; i++) b[i] = 3 * a[i];
#pragma acc update self(b [p * SHARE:SHARE]) async(p)
  }
#pragma acc wait
  int misplaced = 0;
  for (int i = 0; i < N; i++) misplaced += b[i] != 3 * a[i];
  check("queues side by side", misplaced, 0);
#pragma acc parallel loop async(1) present(a [0:N])
  for (int i = 0; i < N; i++) a[i] += 1;
#pragma acc parallel loop async(2) wait(1) present(a [0:N], b [0:N])
  for (int i = 0; i < N; i++) b[i] = a[i] * 2;
  acc_wait(2);
  check("a queue that is done", acc_async_test(2) != 0, 1);
#pragma acc exit data copyout(b [0:N]) delete (a [0:N])
  check("a queue after another", b[7], 2 * (a[7] + 1));
  check("what is gone", acc_is_present(a, N * sizeof *a), 0);
}

static void memory(void) {
  int hits[10] = {0}, last = 0;
#pragma acc parallel loop copy(hits, last)
  for (int i = 0; i < 1000; i++) {
#pragma acc atomic update
    hits[i % 10]++;
    int mine;
#pragma acc atomic capture
    {
      mine = last;
      last += 2;
    }
    (void)mine;
  }
  check("counts", hits[3], 100);
  check("tickets", last, 2000);
  int back[256];
  int* there = acc_malloc(sizeof back);
#pragma acc parallel loop deviceptr(there)
  for (int i = 0; i < 256; i++) there[i] = i * i;
  acc_memcpy_from_device(back, there, sizeof back);
  acc_free(there);
  check("memory of the device", back[255], 65025);
}

int main(void) {
  int here = 1;
#pragma acc serial copyout(here)
  here = acc_on_device(acc_device_host);
  if (here) return printf("it ran on the host\n"), 1;
  float *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
  for (int i = 0; i < N; i++) a[i] = i % 100;
  reductions(a, b);
  levels();
  queues(a, b);
  memory();
  free(a);
  free(b);
  if (!wrong) printf("all as expected\n");
  return wrong;
}
