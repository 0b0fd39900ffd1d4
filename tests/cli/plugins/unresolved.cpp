#include "hone/runtime/plugin.h"

// A plugin that calls an undefined function.
void nowhere(hone::Library& library);

HONE_PLUGIN(library) { nowhere(library); }
