// OpenMP offload as GCC compiles it: reductions, teams, collapse, critical sections, tasks, the device's own memory.
// Ends with 0 if the device agrees with the host.
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong = 0;
static void check(const char* what, double is, double should) {
  if (fabs(is - should) <= 1e-9 * fabs(should)) return;
  printf("%s is %g, not %g\n", what, is, should);
  wrong = 1;
}

#pragma omp declare target
int tables[16];
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
#pragma omp end declare target

enum { N = 10000 };

static void loops(void) {
  double* a = malloc(N * sizeof *a);
  double sum = 0, host = 0;
  for (int i = 0; i < N; i++) a[i] = i;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(to : a [0:N])
  for (int i = 0; i < N; i++) sum += a[i];
  check("a sum over teams", sum, N * (N - 1) / 2.0);
#pragma omp target teams distribute parallel for simd map(tofrom : a [0:N]) num_teams(4) thread_limit(64)
  for (int i = 0; i < N; i++) a[i] = sqrt(a[i]);
  sum = 0;
  for (int i = 0; i < N; i++) sum += a[i], host += sqrt(i);
  check("square roots", sum, host);
  int most = -1, bits = 0;
  long product = 1;
#pragma omp target parallel for reduction(max : most) reduction(| : bits) reduction(* : product) map(tofrom : most, bits, product)
  for (int i = 1; i < 1000; i++) {
    const int v = i * 7919 % 1009;
    if (v > most) most = v;
    bits |= 1 << i % 20;
    if (i <= 15) product *= i;
  }
  check("a maximum", most, 1008);
  check("or-ed bits", bits, (1 << 20) - 1);
  check("a product", product, 1307674368000.0);
  int grid[40][50];
  long total = 0;
#pragma omp target teams distribute parallel for collapse(2) map(from : grid)
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 50; j++) grid[i][j] = i * j;
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 50; j++) total += grid[i][j];
  check("two loops made one", total, 780 * 1225);
  free(a);
}

static void teams(void) {
  int entered = 0, counted = 0, threads = 0, answer = 0;
#pragma omp target teams num_teams(8) map(tofrom : entered)
#pragma omp parallel num_threads(1)
  {
#pragma omp atomic
    entered++;
  }
  check("teams", entered, 8);
#pragma omp target parallel map(tofrom : counted, threads) num_threads(64)
  {
#pragma omp master
    threads = omp_get_num_threads();
#pragma omp critical
    counted++;
#pragma omp barrier
#pragma omp single
    counted += 1000;
  }
  check("a critical section", counted, 1000 + threads);
#pragma omp target map(from : answer)
  answer = fib(12);
  check("a recursive function", answer, 144);
  int done = 0;
#pragma omp target parallel num_threads(8) map(tofrom : done)
#pragma omp single
  for (int i = 0; i < 20; i++) {
#pragma omp task shared(done)
    {
#pragma omp atomic
      done++;
    }
  }
  check("tasks", done, 20);
}

static void memory(void) {
  const int device = omp_get_default_device(), host = omp_get_initial_device();
  int* there = omp_target_alloc(400, device);
  int back[100];
#pragma omp target is_device_ptr(there)
  for (int i = 0; i < 100; i++) there[i] = i * i;
  omp_target_memcpy(back, there, 400, 0, 0, host, device);
  check("memory of the device", back[99], 9801);
  omp_target_free(there, device);
  for (int i = 0; i < 16; i++) tables[i] = i;
#pragma omp target update to(tables)
#pragma omp target
  for (int i = 0; i < 16; i++) tables[i] += 100;
#pragma omp target update from(tables)
  check("a variable of the device", tables[15], 115);
  int x = 1;
#pragma omp target nowait map(tofrom : x) depend(out : x)
  x = 5;
#pragma omp target map(tofrom : x) depend(inout : x)
  x *= 2;
#pragma omp taskwait
  check("kernels that depend on each other", x, 10);
#pragma omp target data map(tofrom : back)
  {
#pragma omp target
    for (int i = 0; i < 100; i++) back[i] = i;
#pragma omp target teams distribute parallel for
    for (int i = 0; i < 100; i++) back[i] *= 2;
  }
  check("data that stays", back[99], 198);
}

struct node {
  int value;
  struct node* next;
};

static void library(void) {
  int sum = 0, same = 0;
#pragma omp target map(tofrom : sum, same)
  {
    struct node* list = NULL;
    for (int i = 1; i <= 50; i++) {
      struct node* one = malloc(sizeof *one);
      one->value = i;
      one->next = list;
      list = one;
    }
    while (list) {
      struct node* next = list->next;
      sum += list->value;
      free(list);
      list = next;
    }
    char text[40], *copy = malloc(3);
    snprintf(text, sizeof text, "%d %s %.3f", 42, "words", 1.5);
    strcpy(copy, "ab");
    same = strcmp(text, "42 words 1.500") == 0 && strlen(copy) == 2;
    free(copy);
  }
  check("a list in the device's heap", sum, 1275);
  check("text made on the device", same, 1);
}

static void atomics(void) {
  float f = 0;
  double d = 1;
  unsigned bits = 0;
  short small = 0;
  unsigned char tiny = 0;
#pragma omp target teams distribute parallel for map(tofrom : f, d, bits, small, tiny)
  for (int i = 0; i < 32; i++) {
#pragma omp atomic
    f += 0.5f;
#pragma omp atomic
    d *= 2;
#pragma omp atomic
    bits |= 1u << i;
#pragma omp atomic
    small += 3;
#pragma omp atomic
    tiny ^= i;
  }
  check("an atomic float", f, 16);
  check("an atomic product", d, 4294967296.0);
  check("atomic bits", bits, 0xffffffffu);
  check("an atomic short", small, 96);
  check("an atomic char", tiny, 0);
}

int main(void) {
  int here = 1;
#pragma omp target map(from : here)
  here = omp_is_initial_device();
  if (here) return printf("it ran on the host\n"), 1;
  loops();
  teams();
  memory();
  library();
  atomics();
#pragma omp target
  printf("from the device: %d %s\n", 42, "words");
  return wrong;
}
