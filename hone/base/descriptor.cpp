#include "hone/base/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hone/base/error.h"

namespace hone {

void Descriptor::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

Pipe::Pipe() {
  int ends[2];
  user_check(::pipe2(ends, O_CLOEXEC) == 0, "cannot make a pipe: {}", std::strerror(errno));
  reader.set(ends[0]);
  writer.set(ends[1]);
}

}  // namespace hone
