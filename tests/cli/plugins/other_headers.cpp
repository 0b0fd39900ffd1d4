#include <cstdlib>

// A plugin built with other headers: what it would do to the tables must not happen.
extern "C" const char* hone_plugin_version() { return "hone plugin of another time"; }
extern "C" void hone_extend(void*) { std::abort(); }
