#include "hone/data/image_file.h"

#include <png.h>

#include <csetjmp>
#include <cstdio>

// after <cstdio>, which it needs
#include <jerror.h>
#include <jpeglib.h>

#include "hone/base/error.h"

namespace hone {
namespace {

constexpr std::int64_t kColours = 3;  // both libraries return red, green and blue

/// A file being decoded. The libraries report errors by longjmp, which skips destructors, so this struct owns
/// everything that the decoders allocate.
struct Decoded {
  std::string_view rest;  // unread bytes
  Picture picture = {};
  std::vector<png_bytep> rows = {};
  std::string problem = {};  // why decoding failed; empty: it succeeded
  std::jmp_buf back = {};

  // Allocates the image; returns false if it is empty or too large.
  bool take_size(std::int64_t height, std::int64_t width) {
    if (height < 1 || width < 1 || height > kMaxPicturePixels / width) {
      problem = fmt::format("a picture of {} x {} pixels; expected 1 to {} pixels", height, width,
                            kMaxPicturePixels);
      return false;
    }
    picture = {height, width, kColours};
    picture.bytes.resize(static_cast<std::size_t>(height * width * kColours));
    return true;
  }
  std::uint8_t* row(std::int64_t number) {
    return picture.bytes.data() + number * picture.width * kColours;
  }
};

// ---- PNG

void read_png_bytes(png_structp png, png_bytep to, std::size_t size) {
  std::string_view& rest = static_cast<Decoded*>(png_get_io_ptr(png))->rest;
  if (rest.size() < size) png_error(png, "it ends too early");
  rest.copy(reinterpret_cast<char*>(to), size);
  rest.remove_prefix(size);
}

[[noreturn]] void leave_png(png_structp png, png_const_charp message) {
  auto* const decoded = static_cast<Decoded*>(png_get_error_ptr(png));
  decoded->problem = fmt::format("cannot read the PNG: {}", message);
  std::longjmp(decoded->back, 1);
}

void no_png_warning(png_structp, png_const_charp) {}

// Decodes to eight bits of red, green and blue like Pillow: drops transparency, takes the upper eight of sixteen bits,
// and ignores gamma.
void decode_png(Decoded& decoded) {
  png_structp png =
      png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoded, leave_png, no_png_warning);
  png_infop about = png == nullptr ? nullptr : png_create_info_struct(png);
  if (about == nullptr) {
    png_destroy_read_struct(&png, nullptr, nullptr);
    throw std::bad_alloc();
  }
  if (setjmp(decoded.back) == 0) {
    png_set_read_fn(png, &decoded, read_png_bytes);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // `take_size` checks the size
    png_read_info(png, about);
    if (decoded.take_size(png_get_image_height(png, about), png_get_image_width(png, about))) {
      png_set_expand(png);
      png_set_strip_16(png);
      png_set_strip_alpha(png);
      png_set_gray_to_rgb(png);
      png_set_interlace_handling(png);
      png_read_update_info(png, about);
      for (std::int64_t i = 0; i < decoded.picture.height; ++i)
        decoded.rows.push_back(decoded.row(i));
      png_read_image(png, decoded.rows.data());
      png_read_end(png, nullptr);
    }
  }
  png_destroy_read_struct(&png, &about, nullptr);
}

// ---- JPEG

[[noreturn]] void leave_jpeg(j_common_ptr decoder) {
  auto* const decoded = static_cast<Decoded*>(decoder->client_data);
  char message[JMSG_LENGTH_MAX];
  decoder->err->format_message(decoder, message);
  decoded->problem = fmt::format("cannot read the JPEG: {}", static_cast<char*>(message));
  std::longjmp(decoded->back, 1);
}

// libjpeg fills missing or damaged data with gray and only warns, so warnings are errors. Extraneous bytes between
// segments are harmless.
void take_jpeg_message(j_common_ptr decoder, int level) {
  if (level < 0 && decoder->err->msg_code != JWRN_EXTRANEOUS_DATA) leave_jpeg(decoder);
}

void decode_jpeg(Decoded& decoded) {
  jpeg_decompress_struct decoder{};
  jpeg_error_mgr errors{};
  decoder.err = jpeg_std_error(&errors);
  errors.error_exit = leave_jpeg;
  errors.emit_message = take_jpeg_message;
  decoder.client_data = &decoded;
  if (setjmp(decoded.back) == 0) {
    jpeg_create_decompress(&decoder);
    jpeg_mem_src(&decoder, reinterpret_cast<const unsigned char*>(decoded.rest.data()),
                 decoded.rest.size());
    jpeg_read_header(&decoder, TRUE);
    if (decoder.num_components == 4) {
      decoded.problem =
          "a JPEG of four colours (CMYK); expected three, or brightness: convert it to RGB";
    } else if (decoded.take_size(decoder.image_height, decoder.image_width)) {
      decoder.out_color_space = JCS_RGB;
      jpeg_start_decompress(&decoder);
      while (decoder.output_scanline < decoder.output_height) {
        JSAMPROW row = decoded.row(decoder.output_scanline);
        jpeg_read_scanlines(&decoder, &row, 1);
      }
      jpeg_finish_decompress(&decoder);
    }
  }
  jpeg_destroy_decompress(&decoder);
}

// ---- both

// Computes ITU-R BT.601 luma in Pillow's fixed-point arithmetic, with bit-identical results; gray stays unchanged.
Picture brightness(const Picture& picture) {
  Picture grey{picture.height, picture.width, 1};
  grey.bytes.reserve(picture.bytes.size() / kColours);
  for (std::size_t i = 0; i < picture.bytes.size(); i += kColours) {
    const std::uint8_t* const pixel = picture.bytes.data() + i;
    const std::uint32_t sum = pixel[0] * 19595u + pixel[1] * 38470u + pixel[2] * 7471u + 0x8000u;
    grey.bytes.push_back(static_cast<std::uint8_t>(sum >> 16));
  }
  return grey;
}

}  // namespace

bool is_picture_name(std::string_view name) {
  std::string ending = fs::path(name).extension().string();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

Picture decode_picture(std::string_view bytes, std::int64_t channels) {
  user_check(channels == 1 || channels == kColours,
             "pictures have 3 channels or 1, the model reads {}; give its images as a safetensors "
             "file",
             channels);
  Decoded decoded{.rest = bytes};
  if (bytes.starts_with("\x89PNG")) {
    decode_png(decoded);
  } else if (bytes.starts_with("\xff\xd8\xff")) {
    decode_jpeg(decoded);
  } else {
    decoded.problem = "not an image; expected a PNG or a JPEG";
  }
  user_check(decoded.problem.empty(), "{}", decoded.problem);
  return channels == 1 ? brightness(decoded.picture) : std::move(decoded.picture);
}

Picture read_picture(const fs::path& path, std::int64_t channels) {
  const std::string bytes = read_file(path);  // its errors name the path
  return with_context(path.string(), [&] { return decode_picture(bytes, channels); });
}

}  // namespace hone
