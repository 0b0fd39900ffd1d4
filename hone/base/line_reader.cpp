#include "hone/base/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "hone/base/error.h"
#include "hone/base/interrupt.h"

namespace hone {
namespace {

constexpr std::size_t kMaxBytes = 64 << 20;  // per line
constexpr int kMaxMilliseconds = 200;        // of waiting between checks for interrupts

}  // namespace

LineReader::LineReader(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)) {}

std::vector<std::string> LineReader::next(std::size_t most) {
  std::vector<std::string> lines;
  while (lines.size() < most) {
    if (take_line(lines)) continue;
    if (!read_more(/*wait=*/lines.empty())) break;
  }
  return lines;
}

// Returns false if there is no complete line.
bool LineReader::take_line(std::vector<std::string>& lines) {
  std::size_t end = buffer_.find('\n', scanned_);
  if (end == std::string::npos) {
    scanned_ = buffer_.size();
    if (!ended_ || begin_ == buffer_.size()) return false;
    end = buffer_.size();
  }
  std::string line = buffer_.substr(begin_, end - begin_);
  begin_ = scanned_ = std::min(end + 1, buffer_.size());
  if (lines_++ == 0 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
  if (line.ends_with('\r')) line.pop_back();
  lines.push_back(std::move(line));
  return true;
}

// Returns false at the end, and if nothing is available and `wait` is false.
bool LineReader::read_more(bool wait) {
  if (ended_) return false;
  user_check(buffer_.size() - begin_ < kMaxBytes,
             "{}: line {} has more than 64 MiB; expected a text on each line", name_, lines_ + 1);
  pollfd ready{.fd = descriptor_, .events = POLLIN, .revents = 0};
  int count = 0;
  // Reacts to Ctrl-C while waiting: a signal ends the wait, and one just before it is noticed soon.
  while ((count = ::poll(&ready, 1, wait ? kMaxMilliseconds : 0)) <= 0) {
    if (count < 0 && errno != EINTR) break;
    if (count == 0 && !wait) return false;
    stop_if_interrupted();
  }
  user_check(count >= 0, "{}: cannot read: {}", name_, std::strerror(errno));
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  constexpr std::size_t kBlock = 1 << 16;
  const std::size_t size = buffer_.size();
  buffer_.resize(size + kBlock);
  ssize_t got = 0;
  while ((got = ::read(descriptor_, buffer_.data() + size, kBlock)) < 0 && errno == EINTR)
    stop_if_interrupted();
  const int error = errno;
  buffer_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  user_check(got >= 0, "{}: cannot read: {}", name_, std::strerror(error));
  ended_ = got == 0;
  return true;
}

}  // namespace hone
