// A kernel with parameters of different types, which stores what it receives.

struct Point {
  float x, y, z;
};

struct Report {
  char letter;
  double number;
  Point point;
  short small;
};

extern "C" __global__ void receive(Report* report, char letter, double number, Point point, short small) {
  *report = {letter, number, point, small};
}
