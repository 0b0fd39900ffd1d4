#include "hone/runtime/plugin.h"

// A plugin that calls what neither it nor the program has.
void nowhere(hone::Library& library);

HONE_PLUGIN(library) { nowhere(library); }
