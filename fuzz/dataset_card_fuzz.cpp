#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/data/dataset_card.h"

namespace hone::fuzz {

void dataset_card(std::string_view bytes) {
  for (const CardConfig& config : parse_dataset_card(bytes))
    for (const auto& [split, globs] : config.data_files)
      for (const std::string& glob : globs) {
        card_glob_match(glob, "data/train-00000-of-00001.parquet");
        card_glob_match(glob, glob);
      }
}

}  // namespace hone::fuzz
