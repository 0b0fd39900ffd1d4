// A shared library that knows nothing of hone.
extern "C" int answer() { return 42; }
