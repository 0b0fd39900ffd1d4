#include "hone/data/arrow.h"

#include "fuzz/column_file.h"
#include "fuzz/targets.h"

namespace hone::fuzz {

void arrow(std::string_view bytes) { read_all_columns(ArrowFile(bytes)); }

}  // namespace hone::fuzz
