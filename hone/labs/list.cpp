#include "hone/labs/attention_lab.h"
#include "hone/labs/kernel_lab.h"
#include "hone/labs/mxint8_lab.h"
#include "hone/labs/speed_lab.h"

namespace hone {

const std::vector<Lab>& labs() {
  static const std::vector<Lab> all = {speed_lab(), attention_lab(), mxint8_lab(), kernel_lab()};
  return all;
}

}  // namespace hone
