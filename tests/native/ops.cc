// An AI CPU operator library of our own: what the framework in every such library does, and small kernels.
// Spec 07: return codes OPR-202, ext info section 4, shapes back OPR-410, log OPR-420, blocks OPR-902.
//
// -DMISSING makes it need a function that no process has.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <new>
#include <string>
#include <vector>

#define WEAK __attribute__((weak))

extern "C" {
WEAK int CheckLogLevel(int module, int level);
WEAK void DlogRecord(int module, int level, const char *format, ...);
int snprintf_s(char *to, size_t max, size_t count, const char *format, ...);
int vsnprintf_s(char *to, size_t max, size_t count, const char *format, va_list list);
int memcpy_s(void *to, size_t max, const void *from, size_t count);
int memset_s(void *to, size_t max, int byte, size_t count);
WEAK char *mmSysGetEnv(int number);
}
namespace aicpu {
WEAK int SetOpname(std::string const &name);
WEAK int SetThreadLocalCtx(std::string const &key, std::string const &value);
WEAK int GetTaskAndStreamId(unsigned long &task, unsigned &stream);
struct aicpuContext_t {
  uint32_t device, ts;
  int32_t host_process;
  uint32_t vf;
};
WEAK int aicpuGetContext(aicpuContext_t *context);
#ifdef MISSING
int NobodyHasThis(int, std::string const &);
#endif
}  // namespace aicpu

namespace {

enum Code : uint32_t { OK = 0, INVALID = 1, INNER = 2, FAILED = UINT32_MAX };
enum Level { DEBUG, INFO, WARN, ERROR };
constexpr int kAiCpu = 36;

// ---- Log: of the process, and of the workspace. ----

thread_local char *g_log = nullptr;  // where the next record goes
thread_local size_t g_left = 0;

void ToWorkspace(Level level, const char *text) {
  static const char *const names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
  if (!g_left) return;
  timeval now;
  gettimeofday(&now, nullptr);
  tm local;
  localtime_r(&now.tv_sec, &local);
  char when[32], record[1024];
  strftime(when, sizeof when, "%Y-%m-%d-%H:%M:%S", &local);
  int length = snprintf(record, sizeof record - 1, "[%s] CUST_AICPU_OP:%s.%03d.%03d %s", names[level],
                        when, int(now.tv_usec / 1000), int(now.tv_usec % 1000), text);
  size_t size = length < 1022 ? length : 1022;
  record[size++] = '\n';
  record[size++] = 0;
  if (size > g_left) {  // the buffer is closed
    memcpy(g_log, record, g_left - 1);
    g_left = 0;
    return;
  }
  memcpy_s(g_log, g_left, record, size);
  g_log += size;
  g_left -= size;
}

void Log(Level level, const char *format, ...) {
  char text[1200];
  va_list list;
  va_start(list, format);
  vsnprintf_s(text, sizeof text, sizeof text - 1, format, list);
  va_end(list);
  if (DlogRecord && (level == ERROR || (CheckLogLevel && CheckLogLevel(kAiCpu, level))))
    DlogRecord(kAiCpu, level, "%s", text);
  ToWorkspace(level, text);
}

#define LOG(level, format, ...) \
  Log(level, "[ops.cc:%d][%s:%d]:" format, __LINE__, __func__, __LINE__, ##__VA_ARGS__)

// ---- NodeDef: OPR-301. ----

struct Broken {};

struct Reader {
  const uint8_t *at, *end;

  explicit Reader(const std::string &raw)
      : at(reinterpret_cast<const uint8_t *>(raw.data())), end(at + raw.size()) {}

  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at == end) throw Broken();
      uint8_t byte = *at++;
      value |= uint64_t(byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw Broken();
  }

  std::string Bytes(uint64_t size) {
    if (size > uint64_t(end - at)) throw Broken();
    std::string raw(reinterpret_cast<const char *>(at), size);
    at += size;
    return raw;
  }
};

struct Field {
  uint64_t number, wire, value;
  std::string raw;

  bool Is(uint64_t n, uint64_t w) const { return number == n && wire == w; }
};

std::vector<Field> Fields(const std::string &raw) {
  Reader in(raw);
  std::vector<Field> fields;
  while (in.at != in.end) {
    uint64_t tag = in.Varint();
    Field field{tag >> 3, tag & 7, 0, ""};
    if (!field.number) throw Broken();
    if (field.wire == 0)
      field.value = in.Varint();
    else if (field.wire == 1)
      field.raw = in.Bytes(8);
    else if (field.wire == 2)
      field.raw = in.Bytes(in.Varint());
    else if (field.wire == 5)
      field.raw = in.Bytes(4);
    else
      throw Broken();
    fields.push_back(field);
  }
  return fields;
}

bool IsUtf8(const std::string &text) {
  size_t at = 0;
  while (at < text.size()) {
    uint8_t c = text[at++];
    int more = c < 0x80 ? 0 : c >> 5 == 6 ? 1 : c >> 4 == 14 ? 2 : c >> 3 == 30 ? 3 : -1;
    if (more < 0) return false;
    while (more--)
      if (at == text.size() || (uint8_t(text[at++]) & 0xC0) != 0x80) return false;
  }
  return true;
}

using Shape = std::vector<int64_t>;

Shape ReadShape(const std::string &raw) {
  Shape shape;
  for (auto &field : Fields(raw)) {
    if (!field.Is(2, 2)) continue;
    int64_t size = 0;
    for (auto &inner : Fields(field.raw))
      if (inner.Is(1, 0)) size = inner.value;
    shape.push_back(size);
  }
  return shape;
}

struct Tensor {
  std::string name;
  int32_t type = 0;
  Shape shape;
  char *data = nullptr;
  uint64_t size = 0;
  int64_t count = 0;
};

Tensor ReadTensor(const std::string &raw) {
  Tensor tensor;
  for (auto &field : Fields(raw)) {
    if (field.Is(1, 2)) tensor.shape = ReadShape(field.raw);
    if (field.Is(2, 0)) tensor.type = int32_t(field.value);
    if (field.Is(4, 2)) tensor.name = field.raw;
  }
  return tensor;
}

struct Attr {
  uint64_t kind = 0;  // number of the field that is set; of a list 100 + that of its members
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string> strings;
  std::vector<Shape> shapes;
  std::vector<Tensor> tensors;
};

float ToFloat(const std::string &raw) {
  float value;
  memcpy(&value, raw.data(), 4);
  return value;
}

void ReadList(const std::string &raw, Attr *attr) {
  attr->kind = 101;
  for (auto &field : Fields(raw)) {
    attr->kind = 100 + field.number;
    if (field.number == 2) attr->strings.push_back(field.raw);
    if (field.number == 7) attr->shapes.push_back(ReadShape(field.raw));
    if (field.number == 8) attr->tensors.push_back(ReadTensor(field.raw));
    if (field.wire == 0) attr->ints.push_back(field.value);
    if (field.wire == 5) attr->floats.push_back(ToFloat(field.raw));
    if (field.Is(4, 2))
      for (size_t at = 0; at + 4 <= field.raw.size(); at += 4)
        attr->floats.push_back(ToFloat(field.raw.substr(at, 4)));
    if (field.Is(3, 2) || field.Is(5, 2) || field.Is(6, 2))
      for (Reader in(field.raw); in.at != in.end;) attr->ints.push_back(in.Varint());
  }
}

Attr ReadAttr(const std::string &raw) {
  Attr attr;
  for (auto &field : Fields(raw)) {
    attr = Attr();
    attr.kind = field.number;
    if (field.Is(1, 2)) ReadList(field.raw, &attr);
    if (field.Is(2, 2)) attr.strings = {field.raw};
    if (field.Is(3, 0) || field.Is(5, 0) || field.Is(6, 0)) attr.ints = {int64_t(field.value)};
    if (field.Is(4, 5)) attr.floats = {ToFloat(field.raw)};
    if (field.Is(7, 2)) attr.shapes = {ReadShape(field.raw)};
    if (field.Is(8, 2)) attr.tensors = {ReadTensor(field.raw)};
    if (field.Is(9, 2))
      for (auto &row : Fields(field.raw)) {
        Attr list;
        if (!row.Is(1, 2)) continue;
        for (auto &inner : Fields(row.raw))
          if (inner.Is(1, 2))
            for (Reader in(inner.raw); in.at != in.end;) list.ints.push_back(in.Varint());
          else if (inner.Is(1, 0))
            list.ints.push_back(inner.value);
        attr.shapes.push_back(list.ints);
      }
  }
  return attr;
}

struct Context {
  std::string op;
  std::map<std::string, Attr> attrs;
  std::vector<Tensor> inputs, outputs;
  uint32_t code = 0;  // 501 to 505 leave the library as they are

  const Attr *Find(const char *name, uint64_t kind) const {  // OPR-307
    auto found = attrs.find(name);
    if (found == attrs.end()) LOG(WARN, "Attr[%s] is not exist.", name);
    return found == attrs.end() || found->second.kind != kind ? nullptr : &found->second;
  }
  int64_t Int(const char *name) const {
    auto *attr = Find(name, 3);
    return attr ? attr->ints[0] : 0;
  }
  std::string Text(const char *name) const {
    auto *attr = Find(name, 2);
    return attr ? attr->strings[0] : "";
  }
};

Context ReadNodeDef(const std::string &raw) {
  Context context;
  for (auto &field : Fields(raw)) {
    if (field.Is(2, 2)) context.op = field.raw;
    if (field.Is(4, 2)) context.inputs.push_back(ReadTensor(field.raw));
    if (field.Is(5, 2)) context.outputs.push_back(ReadTensor(field.raw));
    if (!field.Is(3, 2)) continue;
    std::string name;
    Attr attr;
    for (auto &inner : Fields(field.raw)) {
      if (inner.Is(1, 2)) name = inner.raw;
      if (inner.Is(2, 2)) attr = ReadAttr(inner.raw);
    }
    context.attrs[name] = attr;
  }
  if (!IsUtf8(context.op)) {
    fprintf(stderr, "[libprotobuf ERROR] String field 'aicpuops.NodeDef.op' contains invalid UTF-8 data\n");
    throw Broken();
  }
  return context;
}

// ---- Kernels: each returns 0, or a code that nobody sees. ----

using Kernel = uint32_t (*)(Context &);

std::map<std::string, Kernel> &Kernels() {
  static std::map<std::string, Kernel> kernels;
  return kernels;
}

struct Register {
  Register(const char *name, Kernel kernel) {
    Kernels()[name] = kernel;
    LOG(DEBUG, "Kernel[%s] register successfully.", name);
  }
};

#define KERNEL(name)                              \
  uint32_t name##Kernel(Context &);               \
  const Register name##Entry(#name, name##Kernel); \
  uint32_t name##Kernel(Context &context)

KERNEL(Add) {  // float32; block b of n does its share, the last one the rest
  auto &x = context.inputs.at(0), &y = context.inputs.at(1), &z = context.outputs.at(0);
  if (x.type || y.type || z.type) {
    LOG(ERROR, "Unsupported input data type [%d].", x.type);
    return INVALID;
  }
  if (x.count != y.count || z.count != x.count) {
    LOG(ERROR, "shape mismatch, x has %lld elements, y %lld, z %lld", (long long)x.count,
        (long long)y.count, (long long)z.count);
    return INVALID;
  }
  int64_t blocks = 1, id = 0;
  if (context.attrs.count("block_num")) blocks = context.Int("block_num"), id = context.Int("block_id");
  if (id >= blocks) return INVALID;
  int64_t share = x.count / blocks, first = id * share, last = id == blocks - 1 ? x.count : first + share;
  LOG(INFO, "block %lld of %lld", (long long)id, (long long)blocks);
  auto a = reinterpret_cast<float *>(x.data), b = reinterpret_cast<float *>(y.data);
  auto to = reinterpret_cast<float *>(z.data);
  for (int64_t i = first; i < last; i++) to[i] = a[i] + b[i];
  return OK;
}

KERNEL(Echo) {  // any type: each input as the output of its place
  for (size_t i = 0; i < context.inputs.size(); i++) {
    auto &from = context.inputs[i], &to = context.outputs.at(i);
    if (from.type != to.type || from.size != to.size || from.size == UINT64_MAX) return INVALID;
    if (from.size) memcpy(to.data, from.data, from.size);
  }
  return OK;
}

KERNEL(Concat) {  // any number of inputs, N tells how many
  auto &to = context.outputs.at(0);
  uint64_t at = 0;
  if (context.Int("N") != int64_t(context.inputs.size())) {
    LOG(ERROR, "N is %lld, there are %zu inputs", (long long)context.Int("N"), context.inputs.size());
    return INVALID;
  }
  for (auto &from : context.inputs) {
    if (memcpy_s(to.data + at, to.size - at, from.data, from.size) && from.size) return INNER;
    at += from.size;
  }
  return OK;
}

KERNEL(Attr) {  // int64 words: the kind of attribute `value`, then what it has
  auto found = context.attrs.find("value");
  if (found == context.attrs.end()) {
    LOG(ERROR, "Attr[value] is not exist.");
    return INVALID;
  }
  auto &attr = found->second;
  std::vector<int64_t> words{int64_t(attr.kind)};
  words.insert(words.end(), attr.ints.begin(), attr.ints.end());
  for (float value : attr.floats) {
    words.push_back(0);
    memcpy(&words.back(), &value, 4);
  }
  for (auto &text : attr.strings) {
    words.push_back(text.size());
    for (unsigned char each : text) words.push_back(each);
  }
  for (auto &tensor : attr.tensors) words.push_back(tensor.type), attr.shapes.push_back(tensor.shape);
  for (auto &shape : attr.shapes) {
    words.push_back(shape.size());
    words.insert(words.end(), shape.begin(), shape.end());
  }
  auto &to = context.outputs.at(0);
  if (8 * words.size() > to.size) return INVALID;
  memcpy(to.data, words.data(), 8 * words.size());
  to.shape = {int64_t(words.size())};
  return OK;
}

KERNEL(NonZero) {  // float32: places of what is not 0; the shape is known afterwards
  auto &x = context.inputs.at(0), &to = context.outputs.at(0);
  auto from = reinterpret_cast<float *>(x.data);
  auto places = reinterpret_cast<int64_t *>(to.data);
  int64_t found = 0;
  for (int64_t i = 0; i < x.count; i++)
    if (from[i] != 0) places[found++] = i;
  to.shape = {found};
  return OK;
}

KERNEL(AddOne) {  // float32, in place: the output stays as it is
  auto &x = context.inputs.at(0);
  for (int64_t i = 0; i < x.count; i++) reinterpret_cast<float *>(x.data)[i] += 1;
  return OK;
}

KERNEL(Fail) {
  LOG(WARN, "that will not do");
  LOG(ERROR, "the value of %s is bad", context.inputs.empty() ? "nothing" : context.inputs[0].name.c_str());
  context.code = context.attrs.count("code") ? uint32_t(context.Int("code")) : INVALID;
  return INVALID;
}

KERNEL(Say) {
  LOG(DEBUG, "a detail");
  LOG(INFO, "a remark");
  LOG(WARN, "a warning");
  LOG(ERROR, "an error");
  printf("on stdout\n");
  fprintf(stderr, "on stderr\n");
  return OK;
}

KERNEL(Count) {  // int64: calls of this process so far
  static int64_t calls = 0;
  memcpy(context.outputs.at(0).data, &++calls, 8);
  return OK;
}

KERNEL(Threads) {  // int64: how many a pool would get, OPR-733
  const char *text = mmSysGetEnv ? mmSysGetEnv(9000) : nullptr;
  int64_t threads = text ? atoll(text) : -1;
  memcpy(context.outputs.at(0).data, &threads, 8);
  return OK;
}

KERNEL(Process) {  // int64: what the process says of itself, 0 where all is well: OPR-725
  unsigned long task = 9;
  unsigned stream = 9;
  aicpu::aicpuContext_t all{9, 9, 9, 9};
  int64_t words[] = {1, 1, 1};
  if (aicpu::GetTaskAndStreamId) words[0] = aicpu::GetTaskAndStreamId(task, stream) + task + stream;
  if (aicpu::aicpuGetContext) words[1] = aicpu::aicpuGetContext(&all) + all.device + all.ts + all.vf;
  if (mmSysGetEnv) words[2] = mmSysGetEnv(1) != nullptr;
  memcpy(context.outputs.at(0).data, words, sizeof words);
  return OK;
}

KERNEL(Overrun) {  // writes `count` bytes behind its output
  auto &to = context.outputs.at(0);
  for (int64_t i = 0; i < context.Int("count"); i++) to.data[to.size + i] = 1;
  return OK;
}

KERNEL(Underrun) {
  context.outputs.at(0).data[-context.Int("count")] = 1;
  return OK;
}

int Deep(volatile char *above) {
  volatile char here[1 << 16];
  here[0] = above ? above[0] : 0;
  return Deep(here) + here[0];
}

KERNEL(Harm) {
  std::string how = context.Text("how");
  volatile int zero = 0, hundred = 100;
  if (how == "null") *reinterpret_cast<volatile int *>(uintptr_t(zero)) = 1;
  if (how == "wild") *reinterpret_cast<volatile int *>(uintptr_t(0x123456789000)) = 1;
  if (how == "jump") reinterpret_cast<void (*)()>(uintptr_t(zero))();
  if (how == "stack") return Deep(nullptr);
  if (how == "abort") abort();
  if (how == "divide") return hundred / zero;
  if (how == "illegal") raise(SIGILL);
  if (how == "throw") throw std::bad_alloc();
  if (how == "exit") exit(int(context.Int("code")));
  if (how == "kill") raise(SIGKILL);
  if (how == "hang") for (;;) pause();
  if (how == "spin") for (;;) zero = zero + 1;
  if (how == "stubborn") {
    signal(SIGTERM, SIG_IGN);
    for (;;) pause();
  }
  if (how == "flood") for (;;) puts("and so on, and so on, and so on, and so on, and so on");
  if (how == "log") for (;;) LOG(ERROR, "and so on, and so on, and so on, and so on, and so on");
  if (how == "garble") {  // writes to descriptors that it did not open
    LOG(ERROR, "first");
    for (int fd = 100; fd < 256; fd++) (void)!write(fd, "\xff\xff\xff\xffnothing that is a record", 28);
    LOG(ERROR, "last");
  }
  if (how == "close") for (int fd = 0; fd < 1024; fd++) close(fd);
  if (how == "fork" && !fork()) {
    setsid();
    for (;;) pause();
  }
  if (how == "shrink")  // takes the memory away under who looks at it
    for (int fd = 3; fd < 1024; fd++) (void)!ftruncate(fd, 0);
  if (how == "memory") {
    std::vector<char *> all;
    for (;;) all.push_back(new char[1 << 26]());
  }
#ifdef MISSING
  if (how == "missing") return aicpu::NobodyHasThis(1, how);
#endif
  return OK;
}

// ---- Ext info: section 4 of spec 07. ----

struct Ext {
  bool is_dynamic = false;
  std::vector<char *> inputs, outputs;  // entries of 68 bytes
  char *log = nullptr;
  uint64_t log_size = 0;
};

bool ReadExt(char *at, uint32_t length, Ext *ext) {
  for (uint32_t offset = 0; uint64_t(offset) + 8 <= length;) {
    int32_t type;
    uint32_t size;
    memcpy(&type, at + offset, 4);
    memcpy(&size, at + offset + 4, 4);
    char *payload = at + offset + 8;
    if (type == 0) {
      if (size != 4) return false;
      ext->is_dynamic = true;
    } else if (type == 6) {
      if (size != 8) return false;
      ext->is_dynamic = !(payload[0] & 1);
    } else if ((type == 1 || type == 2) && ext->is_dynamic) {
      if (size % 68) return false;
      for (uint32_t i = 0; i < size; i += 68) (type == 1 ? ext->inputs : ext->outputs).push_back(payload + i);
    } else if (type == 7) {
      if (size != 4) return false;
    } else if (type == 8) {
      if (size != 17 || payload[0] == 1 || payload[0] > 2) return false;  // no kernel is asynchronous
    } else if (type == 9 || type == 10) {
      if (size % 4) return false;
    } else if (type == 11) {
      if (size != 16) return false;
      memcpy(&ext->log_size, payload, 8);
      memcpy(&ext->log, payload + 8, 8);
    }
    offset += 8 + size;
  }
  return true;
}

bool HasGoodSession(const char *at, uint32_t length) {
  for (uint32_t offset = 0; uint64_t(offset) + 8 <= length;) {
    int32_t type;
    uint32_t size;
    memcpy(&type, at + offset, 4);
    memcpy(&size, at + offset + 4, 4);
    if (type == 5) return size == 17;
    offset += 8 + size;
  }
  return true;
}

Shape EntryShape(const char *entry) {
  Shape shape;
  for (int i = 0; i < 8; i++) {
    int64_t dim;
    memcpy(&dim, entry + 4 + 8 * i, 8);
    if (dim == INT64_MIN) break;
    shape.push_back(dim);
  }
  return shape;
}

int64_t TypeSize(int32_t type) {
  static const int8_t sizes[] = {4, 2, 1, 4, 1, -1, 2, 2, 4, 8, 8, 8, 1, -1, 1, 1, 8, 16, 1, 2, 4,
                                 1, 2, -1, -1, 5, -1, 2, -1, 1, 1, 1, 1, 4, 1, 1, 1, 1, -1, -1, 1, 1};
  return type < 0 || type >= int32_t(sizeof sizes) ? -1 : sizes[type];
}

// Negative for a dimension that is, or a size that no tensor has.
int64_t CountOf(const Tensor &tensor) {
  int64_t count = 1;
  for (int64_t dim : tensor.shape)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return -1;
  int64_t bytes;
  return __builtin_mul_overflow(count, TypeSize(tensor.type), &bytes) ? -1 : count;
}

bool Place(std::vector<Tensor> &tensors, const char *addresses, const std::vector<char *> &entries,
           const Ext &ext, bool is_output) {
  if (ext.is_dynamic && entries.size() != tensors.size()) return false;
  for (size_t i = 0; i < tensors.size(); i++) {
    auto &tensor = tensors[i];
    memcpy(&tensor.data, addresses + 8 * i, 8);
    if (ext.is_dynamic) tensor.shape = EntryShape(entries[i]);
    tensor.count = CountOf(tensor);
    if (tensor.count < 0 && tensor.data && !(is_output && ext.is_dynamic)) return false;
    int64_t each = TypeSize(tensor.type);
    tensor.size = each < 0 ? UINT64_MAX : uint64_t(tensor.count * each);
  }
  return true;
}

bool HasNull(const std::vector<Tensor> &tensors) {
  for (auto &each : tensors)
    if (!each.data) return true;
  return false;
}

struct Blocks {
  uint32_t number, id;
};

uint32_t Run(char *param, const Blocks *blocks) {
  uint32_t length, count, ext_length, size;
  char *ext_at;
  memcpy(&length, param, 4);
  memcpy(&count, param + 4, 4);
  memcpy(&ext_length, param + 8, 4);
  memcpy(&ext_at, param + 12, 8);
  if (length < 20) return INVALID;
  if (ext_length >= 8 && !ext_at) return INVALID;
  if (!HasGoodSession(ext_at, ext_length)) return INVALID;
  uint64_t addresses = 8 * uint64_t(count);
  if (addresses > length - 20 || addresses + 4 > length - 20) return FAILED;
  memcpy(&size, param + 20 + addresses, 4);
  Ext ext;
  if (!ReadExt(ext_at, ext_length, &ext)) return FAILED;
  Context context;
  try {
    context = ReadNodeDef(std::string(param + 24 + addresses, size));
  } catch (Broken &) {
    return INNER;
  }
  if (count != context.inputs.size() + context.outputs.size()) return FAILED;
  char *slots = param + 20;
  g_log = ext.log;
  g_left = ext.log ? ext.log_size : 0;
  if (blocks && blocks->id >= blocks->number) g_left = 0;
  if (blocks && g_left) {
    size_t share = g_left / blocks->number;
    g_log += blocks->id * share;
    g_left = blocks->id == blocks->number - 1 ? g_left - blocks->id * share : share;
  }
  if (g_left) memset_s(g_log, g_left, 0, g_left);
  if (!Place(context.inputs, slots, ext.inputs, ext, false)) return FAILED;
  if (!Place(context.outputs, slots + 8 * context.inputs.size(), ext.outputs, ext, true)) return FAILED;
  if (blocks && blocks->number != 1)
    for (auto each : {std::make_pair("block_num", blocks->number), {"block_id", blocks->id}}) {
      Attr attr;
      attr.kind = 3;
      attr.ints = {int64_t(each.second)};
      context.attrs[each.first] = attr;
    }
  auto found = Kernels().find(context.op);
  if (found == Kernels().end()) {
    LOG(ERROR, "The kernel[%s] is not registered", context.op.c_str());
    return FAILED;
  }
  if (aicpu::SetOpname) aicpu::SetOpname(context.op);
  if (aicpu::SetThreadLocalCtx && aicpu::SetThreadLocalCtx("opname", context.op)) return FAILED;
  if (HasNull(context.inputs) || HasNull(context.outputs)) {
    LOG(ERROR, "the address of a tensor is null");
    return FAILED;
  }
  uint32_t code = found->second(context);
  if (code) return context.code >= 501 && context.code <= 505 && !blocks ? context.code : FAILED;
  for (size_t i = 0; ext.is_dynamic && i < context.outputs.size(); i++) {  // OPR-410: no end mark
    auto &shape = context.outputs[i].shape;
    if (shape.size() > 8) return FAILED;
    memcpy(ext.outputs[i] + 4, shape.data(), 8 * shape.size());
  }
  return OK;
}

}  // namespace

extern "C" {

uint32_t RunCpuKernel(void *param) { return param ? Run(static_cast<char *>(param), nullptr) : INVALID; }

uint32_t RunCpuKernelWithBlock(void *param, Blocks *blocks) {
  return param && blocks ? Run(static_cast<char *>(param), blocks) : INVALID;
}

int CustSetCpuKernelContext(uint64_t size, uint64_t address) {
  if (size <= 1 || !address) return 1;
  if (!g_left) g_log = reinterpret_cast<char *>(address), g_left = size;
  return 0;
}
}
