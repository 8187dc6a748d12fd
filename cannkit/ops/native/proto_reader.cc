// The stand-in for libgraph.so and libregister.so: tells what an op_proto library registers.
//
// proto_reader NAME LIBRARY RECORDS GO: once a byte comes from the descriptor GO, opens the copy of a library
// behind the descriptor LIBRARY, whose static constructors register operators, and writes one line for each
// fact to RECORDS. NAME is for who looks at processes. Spec 07, OPR-507.
//
// A line is fields between blanks; bytes of a field outside of '!'..'~', and '%', are %XX:
//   op NAME, and for each thing that it has: in, opt, dynin, out, dynout NAME TYPES; req NAME KIND;
//   attr NAME KIND VALUE...
//   again NAME: registered once more in the same words
//   end: all was told; why TEXT: the library does not open
// The library is foreign code: the parent trusts no line, limits this process, and ends it when it is late.

#include <dlfcn.h>
#include <elf.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace {

constexpr size_t kFull = 1u << 16;
enum Exit { kDone = 0, kUsage = 64, kLoad = 66, kWrite = 67 };

int g_records = -1;
std::string g_buffer;
std::set<std::string> *g_seen = nullptr;
bool g_is_open = false;  // between the line of an operator and the end of its constructor

void Flush() {
  size_t at = 0;
  while (at < g_buffer.size()) {
    const ssize_t count = write(g_records, g_buffer.data() + at, g_buffer.size() - at);
    if (count <= 0) _exit(kWrite);
    at += static_cast<size_t>(count);
  }
  g_buffer.clear();
}

std::string Field(const char *text) {
  static const char digits[] = "0123456789abcdef";
  std::string out;
  for (const char *c = text ? text : ""; *c; ++c) {
    const unsigned char byte = static_cast<unsigned char>(*c);
    if (byte > 0x20 && byte < 0x7f && byte != '%') {
      out += *c;
    } else {
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out;
}

void Line(const char *kind, const std::vector<std::string> &fields) {
  g_buffer += kind;
  for (const std::string &field : fields) g_buffer += " " + field;
  g_buffer += '\n';
}

void Tell(const char *kind, const std::vector<std::string> &fields) {
  if (g_is_open) Line(kind, fields);
}

std::string Number(long long value) { return std::to_string(value); }

std::string Real(float value) {
  char text[32];
  snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  return text;
}

}  // namespace

namespace ge {

// Only what the constructors of prototypes touch has a layout: objects are one shared pointer.
enum DataType : int32_t {};

class __attribute__((visibility("default"))) AscendString {
 public:
  AscendString(const char *text);
  const char *GetString() const;

 private:
  std::shared_ptr<std::string> text_;
};

class __attribute__((visibility("default"))) TensorType {
 public:
  TensorType(DataType type);
  TensorType(const std::initializer_list<DataType> &types);

 private:
  std::shared_ptr<int> impl_;
};

class __attribute__((visibility("default"))) Promote {
 public:
  Promote(const std::initializer_list<const char *> &names);

 private:
  std::shared_ptr<int> impl_;
};

class __attribute__((visibility("default"))) Tensor {
 public:
  Tensor();

 private:
  std::shared_ptr<int> impl_;
};

class __attribute__((visibility("default"))) Operator {
 public:
  Operator(const AscendString &name, const AscendString &type);
  Operator(const char *name, const char *type);
  explicit Operator(const char *type);
  virtual ~Operator() = default;

  void InputRegister(const char *name);
  void InputRegister(const char *name, const char *types);
  void OptionalInputRegister(const char *name);
  void OptionalInputRegister(const char *name, const char *types);
  void OutputRegister(const char *name);
  void OutputRegister(const char *name, const char *types);
  void DynamicInputRegister(const char *name, const unsigned int count, bool is_last);
  void DynamicInputRegister(const char *name, const unsigned int count, const char *types, bool is_last);
  void DynamicOutputRegister(const char *name, const unsigned int count, bool is_last);
  void DynamicOutputRegister(const char *name, const unsigned int count, const char *types, bool is_last);
  void RequiredAttrRegister(const char *name);
  void RequiredAttrWithTypeRegister(const char *name, const char *kind);
  void DataTypeRegister(const char *name, const TensorType &type);
  void DataTypeRegister(const char *name, const Promote &promote);
  void AttrRegister(const char *name, int64_t value);
  void AttrRegister(const char *name, float value);
  void AttrRegister(const char *name, bool value);
  void AttrRegister(const char *name, const char *value);
  void AttrRegister(const char *name, const AscendString &value);
  void AttrRegister(const char *name, const DataType &value);
  void AttrRegister(const char *name, const Tensor &value);
  void AttrRegister(const char *name, const std::vector<int64_t> &values);
  void AttrRegister(const char *name, const std::vector<float> &values);
  void AttrRegister(const char *name, const std::vector<bool> &values);
  void AttrRegister(const char *name, const std::vector<DataType> &values);
  void AttrRegister(const char *name, const std::vector<AscendString> &values);
  void AttrRegister(const char *name, const std::vector<std::vector<int64_t>> &values);

 private:
  std::shared_ptr<int> impl_;
};

using Creator = std::function<Operator(const AscendString &)>;

class __attribute__((visibility("default"))) OperatorCreatorRegister {
 public:
  OperatorCreatorRegister(const char *type, const Creator &creator);
};

class __attribute__((visibility("default"))) InferShapeFuncRegister {
 public:
  InferShapeFuncRegister(const char *type, const std::function<uint32_t(Operator &)> &function);
};

class __attribute__((visibility("default"))) InferFormatFuncRegister {
 public:
  InferFormatFuncRegister(const char *type, const std::function<uint32_t(Operator &)> &function);
};

class __attribute__((visibility("default"))) VerifyFuncRegister {
 public:
  VerifyFuncRegister(const char *type, const std::function<uint32_t(Operator &)> &function);
};

AscendString::AscendString(const char *text) : text_(std::make_shared<std::string>(text ? text : "")) {}
const char *AscendString::GetString() const { return text_ ? text_->c_str() : ""; }

TensorType::TensorType(DataType) {}
TensorType::TensorType(const std::initializer_list<DataType> &) {}
Promote::Promote(const std::initializer_list<const char *> &) {}
Tensor::Tensor() {}

Operator::Operator(const AscendString &, const AscendString &) {}
Operator::Operator(const char *, const char *) {}
Operator::Operator(const char *) {}

void Operator::InputRegister(const char *name) { InputRegister(name, ""); }
void Operator::InputRegister(const char *name, const char *types) { Tell("in", {Field(name), Field(types)}); }
void Operator::OptionalInputRegister(const char *name) { OptionalInputRegister(name, ""); }
void Operator::OptionalInputRegister(const char *name, const char *types) {
  Tell("opt", {Field(name), Field(types)});
}
void Operator::OutputRegister(const char *name) { OutputRegister(name, ""); }
void Operator::OutputRegister(const char *name, const char *types) { Tell("out", {Field(name), Field(types)}); }
void Operator::DynamicInputRegister(const char *name, const unsigned int, bool) {
  Tell("dynin", {Field(name), ""});
}
void Operator::DynamicInputRegister(const char *name, const unsigned int, const char *types, bool) {
  Tell("dynin", {Field(name), Field(types)});
}
void Operator::DynamicOutputRegister(const char *name, const unsigned int, bool) {
  Tell("dynout", {Field(name), ""});
}
void Operator::DynamicOutputRegister(const char *name, const unsigned int, const char *types, bool) {
  Tell("dynout", {Field(name), Field(types)});
}
void Operator::RequiredAttrRegister(const char *name) { Tell("req", {Field(name), ""}); }
void Operator::RequiredAttrWithTypeRegister(const char *name, const char *kind) {
  Tell("req", {Field(name), Field(kind)});
}
void Operator::DataTypeRegister(const char *, const TensorType &) {}
void Operator::DataTypeRegister(const char *, const Promote &) {}
void Operator::AttrRegister(const char *name, int64_t value) { Tell("attr", {Field(name), "Int", Number(value)}); }
void Operator::AttrRegister(const char *name, float value) { Tell("attr", {Field(name), "Float", Real(value)}); }
void Operator::AttrRegister(const char *name, bool value) { Tell("attr", {Field(name), "Bool", Number(value)}); }
void Operator::AttrRegister(const char *name, const char *value) {
  Tell("attr", {Field(name), "String", Field(value)});
}
void Operator::AttrRegister(const char *name, const AscendString &value) {
  Tell("attr", {Field(name), "String", Field(value.GetString())});
}
void Operator::AttrRegister(const char *name, const DataType &value) {
  Tell("attr", {Field(name), "Type", Number(value)});
}
void Operator::AttrRegister(const char *name, const Tensor &) { Tell("attr", {Field(name), "Tensor"}); }

void Operator::AttrRegister(const char *name, const std::vector<int64_t> &values) {
  std::vector<std::string> fields{Field(name), "ListInt"};
  for (const int64_t value : values) fields.push_back(Number(value));
  Tell("attr", fields);
}
void Operator::AttrRegister(const char *name, const std::vector<float> &values) {
  std::vector<std::string> fields{Field(name), "ListFloat"};
  for (const float value : values) fields.push_back(Real(value));
  Tell("attr", fields);
}
void Operator::AttrRegister(const char *name, const std::vector<bool> &values) {
  std::vector<std::string> fields{Field(name), "ListBool"};
  for (const bool value : values) fields.push_back(Number(value));
  Tell("attr", fields);
}
void Operator::AttrRegister(const char *name, const std::vector<DataType> &values) {
  std::vector<std::string> fields{Field(name), "ListType"};
  for (const DataType value : values) fields.push_back(Number(value));
  Tell("attr", fields);
}
void Operator::AttrRegister(const char *name, const std::vector<AscendString> &values) {
  std::vector<std::string> fields{Field(name), "ListString"};
  for (const AscendString &value : values) fields.push_back(Field(value.GetString()));
  Tell("attr", fields);
}
void Operator::AttrRegister(const char *name, const std::vector<std::vector<int64_t>> &values) {
  std::vector<std::string> fields{Field(name), "ListListInt"};
  for (const std::vector<int64_t> &row : values) {
    std::string text;
    for (const int64_t value : row) text += (text.empty() ? "" : ",") + Number(value);
    fields.push_back(text);
  }
  Tell("attr", fields);
}

OperatorCreatorRegister::OperatorCreatorRegister(const char *type, const Creator &creator) {
  if (!type || !creator || !g_seen) return;
  std::string before;
  before.swap(g_buffer);
  Line("op", {Field(type)});
  g_is_open = true;
  creator(AscendString(type));
  g_is_open = false;
  before.swap(g_buffer);
  if (g_seen->insert(before).second) {
    g_buffer += before;
  } else {  // headers are compiled into several units
    Line("again", {Field(type)});
  }
  if (g_buffer.size() > kFull) Flush();
}
InferShapeFuncRegister::InferShapeFuncRegister(const char *, const std::function<uint32_t(Operator &)> &) {}
InferFormatFuncRegister::InferFormatFuncRegister(const char *, const std::function<uint32_t(Operator &)> &) {}
VerifyFuncRegister::VerifyFuncRegister(const char *, const std::function<uint32_t(Operator &)> &) {}

}  // namespace ge

// Both spellings of the log: nothing is logged.
#define EXPORT __attribute__((visibility("default"), used))
extern "C" EXPORT int CheckLogLevel(int, int) { return 0; }
extern "C" EXPORT void DlogRecord(int, int, const char *, ...) {}
EXPORT int CheckLogLevelCpp(int, int) __asm__("_Z13CheckLogLevelii");
int CheckLogLevelCpp(int, int) { return 0; }
EXPORT void DlogRecordCpp(int, int, const char *, ...) __asm__("_Z10DlogRecordiiPKcz");
void DlogRecordCpp(int, int, const char *, ...) {}

namespace {

// A copy of the library in memory, changed where the loader would ask for what only the product has.
class Image {
 public:
  explicit Image(int file) {
    struct stat status;
    if (fstat(file, &status) || status.st_size <= 0) return;
    void *place = mmap(nullptr, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (place == MAP_FAILED) return;
    bytes_ = static_cast<char *>(place);
    size_ = static_cast<size_t>(status.st_size);
  }

  // Libraries of the product are not needed, no folders of the build machine are searched, and what is
  // missing may stay missing until it is called.
  void Relax() {
    const auto *head = At<Elf64_Ehdr>(0, 1);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64) return;
    const auto *sections = At<Elf64_Shdr>(head->e_shoff, head->e_shnum);
    for (int i = 0; sections && i < head->e_shnum; ++i) {
      const Elf64_Shdr &section = sections[i];
      if (section.sh_link >= head->e_shnum) continue;
      const Elf64_Shdr &strings = sections[section.sh_link];
      if (section.sh_type == SHT_DYNAMIC) RelaxNeeds(section, strings);
      if (section.sh_type == SHT_DYNSYM) RelaxNames(section, strings);
    }
  }

 private:
  template <typename T>
  T *At(uint64_t offset, uint64_t count) {
    if (offset > size_ || count > (size_ - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<T *>(bytes_ + offset);
  }

  std::string Text(const Elf64_Shdr &strings, uint64_t at) {
    const char *start = at < strings.sh_size ? At<char>(strings.sh_offset, strings.sh_size) : nullptr;
    return start ? std::string(start + at, strnlen(start + at, strings.sh_size - at)) : "";
  }

  void RelaxNeeds(const Elf64_Shdr &section, const Elf64_Shdr &strings) {
    const uint64_t count = section.sh_size / sizeof(Elf64_Dyn);
    auto *entries = At<Elf64_Dyn>(section.sh_offset, count);
    for (uint64_t i = 0; entries && i < count; ++i) {
      Elf64_Dyn &entry = entries[i];
      bool is_gone = entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
      if (entry.d_tag == DT_NEEDED) {  // those of the system have a number behind .so
        const std::string name = Text(strings, entry.d_un.d_val);
        is_gone = name.size() > 3 && name.compare(name.size() - 3, 3, ".so") == 0;
      }
      if (is_gone) entry.d_tag = DT_DEBUG;  // which the loader ignores in a library
    }
  }

  void RelaxNames(const Elf64_Shdr &section, const Elf64_Shdr &strings) {
    const uint64_t count = section.sh_size / sizeof(Elf64_Sym);
    auto *symbols = At<Elf64_Sym>(section.sh_offset, count);
    for (uint64_t i = 1; symbols && i < count; ++i) {
      Elf64_Sym &symbol = symbols[i];
      if (symbol.st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL &&
          !dlsym(RTLD_DEFAULT, Text(strings, symbol.st_name).c_str())) {
        symbol.st_info = ELF64_ST_INFO(STB_WEAK, ELF64_ST_TYPE(symbol.st_info));
      }
    }
  }

  char *bytes_ = nullptr;
  size_t size_ = 0;
};

}  // namespace

int main(int argc, char **argv) {
  if (argc != 5) return kUsage;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);  // the parent starts it with some held back
  g_records = atoi(argv[3]);
  g_seen = new std::set<std::string>;
  char byte;
  if (read(atoi(argv[4]), &byte, 1) != 1) return kUsage;
  Image(atoi(argv[2])).Relax();
  const std::string path = "/proc/self/fd/" + std::string(argv[2]);
  if (!dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
    const char *why = dlerror();
    Line("why", {Field(why)});
    Flush();
    return kLoad;
  }
  Line("end", {});
  Flush();
  _exit(kDone);  // no destructor of the library runs
}
