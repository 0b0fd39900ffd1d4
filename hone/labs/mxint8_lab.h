#pragma once

#include "hone/labs/lab.h"
#include "hone/labs/mxint8_decode.h"
#include "hone/labs/mxint8_memory.h"
#include "hone/labs/mxint8_products.h"

/// Lab 4.3: costs and savings of MXINT8. Elements and their decoding, the memory of packed models, products of packed
/// weights and their predictions.
namespace hone {

struct Mxint8Sizes {
  DecodeSizes decode;
  std::vector<std::string> shapes = {};  ///< made-up models: `made_up_shape`
  ProductSizes products = {};
};

struct Mxint8LabFields {
  SubjectResult subject = {};
  LabFields lab = {};
  std::vector<LabMemoryResult> memory = {};
  LabSensitivityResult sensitivity = {};
  LabProductsResult products = {};
  LabDecodeResult decode = {};
  std::vector<PublishedResult> published = {};
};
const Fields& fields_of(const Mxint8LabFields*);

/// Returns the lab with the sizes of each fidelity.
Lab mxint8_lab(std::function<Mxint8Sizes(Fidelity)> sizes);
/// Returns the lab with the default sizes.
Lab mxint8_lab();

}  // namespace hone
