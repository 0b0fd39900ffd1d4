#include <cstdlib>

// A plugin built with other headers. Its hone_extend must not be called.
extern "C" const char* hone_plugin_version() { return "hone plugin of another time"; }
extern "C" void hone_extend(void*) { std::abort(); }
