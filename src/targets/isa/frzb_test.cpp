// `.frzb` files that somebody damaged: every one is refused with a sentence, or it is a module that runs within its
// limits, and then lifting means the same. The checksum is mended after most mutations; else nothing else would be seen.
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "exec/meaning/interpreter.h"
#include "generator/generator.h"
#include "machines/simt/frzb.h"
#include "machines/simt/text.h"
#include "targets/isa/isa.h"
#include "targets/isa/lane_exact.h"

namespace frazil::targets::isa {
namespace {

using machines::simt::FileHeader;
using machines::simt::Module;

struct Random {
  uint64_t state;
  uint64_t Next() {
    state += 0x9e3779b97f4a7c15;
    uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t Below(uint64_t n) { return Next() % n; }
};

constexpr const char* Launched = R"(.launch
.param buffer u32 x
.param u64 n
  ldp.u64 r4, n
  mov_imm.u32 r1, 3
  mov_imm.u32 r3, 0
@again:
  call @body
  loop r1, @again
  sts.u32 [r252*4], r3
  bar.sync 0
  lds.u32 r2, [r252*4]
  mov_imm.u64 r5, 0
  ldg.u32 r6, [r5 + r1]
  atom.add.u32 r7, [x + r252*4], r2
  @p1 stg.u32 [Φ(3, 4, 8)], r6
  exit
@body:
  add.u32 r3, r3, r252
  setlt.u32 p1, r3, #9
  ret
)";

constexpr const char* Structured = R"(.param buffer f32 x
.param in buffer pred q
.param u32 n extent 0
.scratch i64
.result f32
.table f32 squares 0 1 4 9
  ldp.u32 r1, n
  cvt.idx.u32 r2, r1
  mov_imm.idx r4, 0
  alloc.i64 b2, r2
  mov_imm.f32 r8, 0.5
  for.idx r5, r4, r2, 2
    carry.f32 r8
    ldg.pred p1, [q + r5*1]
    ldg.f32 r9, [x + r5*4]
    sel.f32 r9, p1, r9, r8
    add.f32 r8, r8, r9
  end
  par r11, r4, r2
    ldg.f32 r12, [x + r11*4]
    bar.sync 0
    lane.reduce.max.f32 r13, r12
    setlt.f32 p2, r12, r13
    if p2
      sigmoid.f32 r12, r12
    end
    stg.f32 [x + r11*4], r13
  end
  switch.u32 r1
    carry.f32 r8
  case 3
    neg.f32 r8, r8
  default
    lut.f32 r8, squares, r1
  end
  result.f32 0, r8
  exit
)";

std::vector<std::string> Corpus() {
  std::vector<std::string> files;
  for (const char* text : {Launched, Structured}) {
    Result<Module> module = machines::simt::Assemble(text);
    EXPECT_TRUE(module) << module.error().ToString();
    if (module) files.emplace_back(module->bytes);
  }
  for (uint64_t seed = 0; files.size() < 24; ++seed) {
    generator::GeneratorOptions options;
    options.seed = seed;
    options.size = 6 + seed % 16;
    options.allow_streams = options.allow_tensors = options.allow_calls = false;
    options.types = ir::sets::Fixed | ir::sets::Float | ir::sets::Bool;
    Result<Module> module = Lower(generator::Generate(options));
    EXPECT_TRUE(module) << module.error().ToString();
    if (module) files.emplace_back(module->bytes);
  }
  return files;
}

void Mend(std::string& bytes) {
  if (bytes.size() < sizeof(FileHeader)) return;
  uint64_t size = bytes.size();
  std::memcpy(bytes.data() + offsetof(FileHeader, size), &size, 8);
  Sha256 sha;
  sha.Update(std::string_view(bytes).substr(0, offsetof(FileHeader, checksum)));
  sha.Update(std::string_view(bytes).substr(sizeof(FileHeader)));
  std::array<uint8_t, 32> checksum = sha.Finish();
  std::memcpy(bytes.data() + offsetof(FileHeader, checksum), checksum.data(), 32);
}

// Where the code lies, by the undamaged header.
std::pair<size_t, size_t> CodeOf(const std::string& bytes) {
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const machines::simt::SectionRow& code =
      header.sections[static_cast<size_t>(machines::simt::SectionKind::Code)];
  return {code.offset, code.count};
}

std::string Mutated(const std::vector<std::string>& corpus, Random& random) {
  std::string bytes = corpus[random.Below(corpus.size())];
  auto [code, count] = CodeOf(bytes);
  for (uint64_t times = 1 + random.Below(3); times > 0; --times) {
    size_t instruction = code + 16 * random.Below(count);
    switch (random.Below(8)) {
      case 0: bytes[random.Below(bytes.size())] ^= static_cast<char>(1u << random.Below(8)); break;
      case 1: bytes[random.Below(bytes.size())] = static_cast<char>(random.Next()); break;
      case 2: bytes.resize(random.Below(bytes.size() + 16)); break;
      case 3: std::memcpy(&bytes[instruction], &bytes[code + 16 * random.Below(count)], 16); break;
      case 4: {  // two instructions change places
        size_t other = code + 16 * random.Below(count);
        for (size_t b = 0; b < 16; ++b) std::swap(bytes[instruction + b], bytes[other + b]);
        break;
      }
      // One field of an instruction: small numbers are what registers and types are.
      default: bytes[instruction + random.Below(16)] = static_cast<char>(random.Below(24)); break;
    }
    if (bytes.size() < code + 16 * count) break;
  }
  if (random.Below(10) != 0) Mend(bytes);
  return bytes;
}

std::vector<exec::Value> ArgumentsOf(const Module& module) {
  std::vector<exec::Value> arguments;
  for (const machines::simt::ParamRow& row : module.params) {
    ir::Type type = ir::Type::Of(row.type);
    if (!row.is_buffer) {
      arguments.push_back(exec::Value::Int(type, 5));
      continue;
    }
    auto memory = std::make_shared<exec::Memory>(type, 8);
    for (int64_t i = 0; i < 8; ++i) memory->Set(i, exec::Value::Int(type, i).scalar_words());
    arguments.push_back(exec::Value::Buffer(memory));
  }
  return arguments;
}

struct Counts {
  uint64_t refused = 0, ran = 0, compared = 0;
};

void Try(std::string bytes, Counts& counts) {
  Result<Module> module = machines::simt::LoadModule(bytes);
  if (!module) {
    ++counts.refused;
    EXPECT_FALSE(module.error().message.empty());
    EXPECT_TRUE(module.error().diag == Diag::BadArtifact ||
                module.error().diag == Diag::BadIsaProgram)
        << module.error().ToString();
    return;
  }
  exec::RunContext context;
  context.limits.fuel = 500;
  context.limits.memory_bytes = 4 << 20;
  LaunchShape launch;
  launch.grid = {2, 1, 1};
  launch.block = {4, 1, 1};
  launch.shared_bytes = 24;
  std::vector<exec::Value> arguments = ArgumentsOf(*module);
  Result<exec::Outcome> outcome = RunLaneExact(*module, arguments, context, launch);
  ++counts.ran;
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  Result<ir::Program> lifted = Lift(*module);
  if (!lifted) {
    EXPECT_TRUE(lifted.error().diag == Diag::BadIsaProgram)
        << lifted.error().ToString() << machines::simt::Print(*module);
    return;
  }
  std::vector<exec::Value> again = ArgumentsOf(*module);
  Result<exec::Outcome> meant = exec::Interpret(*lifted, again, context);
  ASSERT_TRUE(meant) << meant.error().ToString();
  ++counts.compared;
  ASSERT_EQ(outcome->trap.has_value(), meant->trap.has_value())
      << (outcome->trap ? outcome->trap->ToString() : meant->trap->ToString()) << "\n"
      << machines::simt::Print(*module);
  if (meant->trap) {
    EXPECT_TRUE(*outcome->trap == *meant->trap)
        << outcome->trap->ToString() << meant->trap->ToString() << machines::simt::Print(*module);
    return;
  }
  EXPECT_TRUE(outcome->results == meant->results && arguments == again)
      << machines::simt::Print(*module);
}

TEST(Frzb, DamagedFiles) {
  std::vector<std::string> corpus = Corpus();
  Random random{7};
  Counts counts;
  const char* wanted = std::getenv("FRAZIL_MUTATIONS");
  uint64_t mutations = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 100'000;
  for (uint64_t i = 0; i < mutations && !HasFailure(); ++i) Try(Mutated(corpus, random), counts);
  EXPECT_GT(counts.refused, mutations / 10);
  EXPECT_GT(counts.ran, mutations / 100);
  EXPECT_GT(counts.compared, mutations / 100);
  RecordProperty("ran", std::to_string(counts.ran));
  RecordProperty("compared", std::to_string(counts.compared));
}

TEST(Frzb, MappedInPlace) {
  Result<Module> module = machines::simt::Assemble(Structured);
  ASSERT_TRUE(module);
  std::string path = testing::TempDir() + "frazil_frzb_test.frzb";
  std::ofstream(path, std::ios::binary) << module->bytes;
  {
    Result<machines::simt::MappedModule> mapped = machines::simt::Map(path);
    ASSERT_TRUE(mapped) << mapped.error().ToString();
    EXPECT_EQ(mapped->bytes, module->bytes);
    EXPECT_EQ(reinterpret_cast<const char*>(mapped->code.data()),
              mapped->bytes.data() + CodeOf(std::string(module->bytes)).first);
    Module copy = *mapped;  // views share the mapping
    mapped = Fail(Diag::Internal, "");
    EXPECT_EQ(machines::simt::Print(copy), machines::simt::Print(*module));
  }
  std::remove(path.c_str());
  EXPECT_EQ(machines::simt::Map(path).error().diag, Diag::FileUnreadable);
}

}  // namespace
}  // namespace frazil::targets::isa
