#include "hone/data/parquet.h"

#include "fuzz/column_file.h"
#include "fuzz/targets.h"

namespace hone::fuzz {

void parquet(std::string_view bytes) { read_all_columns(ParquetFile(bytes, "file")); }

}  // namespace hone::fuzz
