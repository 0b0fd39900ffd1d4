#include "hone/report/document.h"

namespace hone {

std::vector<Block> paragraphs(const std::vector<std::string>& lines) {
  std::vector<Block> blocks;
  for (const std::string& line : lines) blocks.emplace_back(Paragraph{line});
  return blocks;
}

}  // namespace hone
