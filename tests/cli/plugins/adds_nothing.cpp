#include "hone/runtime/plugin.h"

// A plugin that forgot its rows.
HONE_PLUGIN(library) { library.formats.clear(); }
