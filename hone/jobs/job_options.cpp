#include "hone/jobs/job_options.h"

namespace hone {

std::string without_figure_ending(const std::string& file) {
  fs::path path(file);
  if (path.extension() == ".svg" || path.extension() == ".png") path.replace_extension();
  return path.string();
}

}  // namespace hone
