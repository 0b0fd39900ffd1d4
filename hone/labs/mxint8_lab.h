#pragma once

#include "hone/labs/lab.h"
#include "hone/labs/mxint8_decode.h"
#include "hone/labs/mxint8_memory.h"
#include "hone/labs/mxint8_products.h"

/// Lab 4.3: what MXINT8 costs and saves. Elements and their decoding, the memory of packed models, products of packed weights
/// and their answers.
namespace hone {

/// How much of it is run.
struct Mxint8Sizes {
  DecodeSizes decode;
  std::vector<std::string> shapes = {};  ///< made-up models: `made_up_shape`
  ProductSizes products = {};
};

/// The result for programs.
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

/// The lab with the sizes that these fidelities have.
Lab mxint8_lab(std::function<Mxint8Sizes(Fidelity)> sizes);
/// With the usual ones.
Lab mxint8_lab();

}  // namespace hone
