#pragma once

/// File descriptors and pipes that close themselves.
namespace hone {

/// A file descriptor, or none (-1).
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  void set(int number) { number_ = number; }
  void close();

 private:
  int number_;
};

/// The two ends of a pipe, which child programs do not inherit. Throws `UserError` if the system has no descriptors
/// left.
struct Pipe {
  Descriptor reader, writer;
  Pipe();
};

}  // namespace hone
