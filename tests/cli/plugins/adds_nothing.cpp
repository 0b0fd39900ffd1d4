#include "hone/runtime/plugin.h"

// A plugin that adds nothing.
HONE_PLUGIN(library) { library.formats.clear(); }
