#include "hone/labs/mxint8_lab.h"

namespace hone {

const std::vector<Lab>& labs() {
  static const std::vector<Lab> all = {mxint8_lab()};
  return all;
}

}  // namespace hone
