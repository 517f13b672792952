// What an audit says of kernels in a program, of files without any, and of its own entries.
#include <stdlib.h>

#include <filesystem>
#include <random>

#include "audit/audit.h"
#include "audit/entry.h"
#include "audit/test_elf.h"
#include "ir/digest.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"
#include "targets/isa/isa.h"

namespace frazil::audit {
namespace {

// A kernel for the portable ISA alone, as aot writes it.
class IsaKernel : public testing::Test {
 protected:
  static constexpr size_t DataAt = 0x100;
  static inline const std::string Text =
      ir::Lanes("%x: in buffer<f32>, %y: out buffer<f32>, %n: u32", R"(
  %m = cast %n : index
)",
                R"(
    %v = load %x, %i : f32
    %w = add %v, %v : f32
    store %y, %i, %w : f32
)",
                "%zero to %m");

  static ir::Program Source() {
    Result<ir::Program> program = ir::ParseText(Text);
    EXPECT_TRUE(program);
    return std::move(*program);
  }

  void SetUp() override {
    const ir::Program source = Source();
    const auto proved = targets::isa::ProvedModule::OfProgram(source);
    ASSERT_TRUE(proved);
    module = std::string(proved->module().bytes);
    kernel.report.name = "twice";
    kernel.report.meaning = {verify::Grade::Proved, "digest", "", 0};
    kernel.digest = ir::ExactDigest(source);
    kernel.candidate = kernel.source = ir::PrintText(source);
    data.version = embed::KernelDataVersion;
    data.trips_word = embed::NoWord;
    data.word_count = 5;
    for (size_t i = 0; i < sizeof data.digest; ++i)
      data.digest[i] = static_cast<char>(std::stoi(kernel.digest.substr(2 * i, 2), nullptr, 16));
    using embed::Access;
    using embed::ParamRole;
    params = {{{}, Kind::F32, ParamRole::Buffer, Access::In, 4, 0, 0},
              {{}, Kind::F32, ParamRole::Buffer, Access::Out, 4, 2, 0},
              {{}, Kind::U32, ParamRole::Extent, Access::InOut, 4, 4, 0}};
    covers = lengths = {{2, 0}, {2, 1}};
  }

  // A program of one segment without sections.
  std::string File() const {
    std::string file = Program();
    ForgetSections(file);
    file.resize(RecordAt);
    embed::KernelData head = data;
    const auto place = [&](size_t field, std::string_view bytes) {
      file.resize((file.size() + 7) / 8 * 8);
      const size_t at = file.size();
      file += bytes;
      return static_cast<int32_t>(at - DataAt - field);
    };
    const auto rows = [](const auto& list) {
      return std::string_view(reinterpret_cast<const char*>(list.data()),
                              list.size() * sizeof(list[0]));
    };
    std::string record(aot::RecordMagic);
    const std::string body = aot::PackRecord(kernel, true);
    for (const uint32_t number :
         {aot::RecordVersion, static_cast<uint32_t>(aot::RecordHeadBytes + body.size()),
          static_cast<uint32_t>(DataAt - RecordAt - 24), uint32_t{0}})
      Put(record, record.size(), number);
    using embed::KernelData;
    head.record.offset = place(offsetof(KernelData, record), record + body);
    head.name.offset = place(offsetof(KernelData, name), std::string("twice\0", 6));
    const auto list = [&](auto& field, size_t at, const auto& from) {
      field.size = static_cast<uint32_t>(from.size());
      if (!from.empty()) field.data.offset = place(at, rows(from));
    };
    list(head.params, offsetof(KernelData, params), params);
    list(head.covers, offsetof(KernelData, covers), covers);
    list(head.lengths, offsetof(KernelData, lengths), lengths);
    list(head.guard_apart, offsetof(KernelData, guard_apart), guard_apart);
    list(head.guard_least, offsetof(KernelData, guard_least), guard_least);
    list(head.isa, offsetof(KernelData, isa), module);
    list(head.ptx, offsetof(KernelData, ptx), ptx);
    Put(file, DataAt, head);
    Put(file, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz), uint64_t{file.size()});
    Put(file, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_memsz), uint64_t{file.size()});
    return file;
  }

  Entry Audited() const {
    const Result<MemoryImage> image = MemoryImage::Read(File());
    EXPECT_TRUE(image);
    const std::vector<EmbeddedKernel> kernels = FindKernels(*image);
    EXPECT_EQ(kernels.size(), 1u);
    const std::vector<Entry> entries = AuditKernel(*image, kernels.at(0), {}, Limits{});
    EXPECT_EQ(entries.size(), 1u);
    return entries.at(0);
  }

  aot::BuiltKernel kernel;
  embed::KernelData data = {};
  std::vector<embed::ParamData> params;
  std::vector<embed::PairData> covers, lengths, guard_apart, guard_least;
  std::string module, ptx;
};

TEST_F(IsaKernel, IsLiftedBack) {
  const Entry good = Audited();
  EXPECT_EQ(good.finding, Finding::Agrees) << good.reason;
  EXPECT_EQ(good.form, "isa");
  EXPECT_EQ(good.found.lowering.grade, verify::Grade::Proved);
  // Damaged; and a good module of another program.
  std::string& bytes = module;
  const std::string whole = bytes;
  bytes[bytes.size() / 2] ^= 1;
  EXPECT_EQ(Audited().finding, Finding::Disagrees);
  bytes = std::string(whole.size(), 'x');
  EXPECT_EQ(Audited().finding, Finding::Disagrees);
  std::string other(Text);
  other.replace(other.find("= add"), 5, "= mul");
  const Result<ir::Program> program = ir::ParseText(other);
  ASSERT_TRUE(program);
  const auto proved = targets::isa::ProvedModule::OfProgram(*program);
  ASSERT_TRUE(proved);
  bytes = std::string(proved->module().bytes);
  const Entry wrong = Audited();
  EXPECT_EQ(wrong.finding, Finding::Disagrees);
  EXPECT_EQ(wrong.reason, "code: the module, lifted, is not the program that it was made from");
}

// The same code under another signature: a launch would take other lengths for its extent.
TEST_F(IsaKernel, HasItsParameters) {
  const auto loaded = machines::simt::LoadModule(module);
  ASSERT_TRUE(loaded);
  machines::simt::ModuleParts parts;
  parts.name = loaded->name;
  for (uint32_t i = 0; i < loaded->params.size(); ++i) {
    const machines::simt::ParamRow& row = loaded->params[i];
    parts.params.push_back({std::string(loaded->param_name(i)),
                            row.type,
                            row.is_buffer != 0,
                            row.access,
                            row.role,
                            {}});
  }
  parts.params[2].extents = {0, 1};
  parts.code = {loaded->code.begin(), loaded->code.end()};
  parts.lines = {loaded->lines.begin(), loaded->lines.end()};
  const auto seal = [&] {
    const auto sealed = machines::simt::Seal(parts);
    EXPECT_TRUE(sealed);
    return std::string(sealed->bytes);
  };
  ASSERT_EQ(seal(), module);
  parts.params[2].extents = {0};
  module = seal();
  EXPECT_EQ(Audited().reason, "code: the module has other parameters than the program");
}

TEST_F(IsaKernel, WhatNobodyJudgedDoesNotAgree) {
  module.clear();
  EXPECT_EQ(Audited().finding, Finding::NotChecked);
  EXPECT_EQ(Audited().reason, "code: it carries none");
  ptx = "ptx";
  const Entry entry = Audited();
  EXPECT_EQ(entry.finding, Finding::NotChecked);
  EXPECT_EQ(entry.reason, "code: it has only PTX, which is not judged here");
  EXPECT_EQ(entry.form, "ptx");
  SetUp();
  EXPECT_EQ(Audited().finding, Finding::Agrees);
  EXPECT_EQ(Audited().note, "not recorded; ptx not judged");
}

TEST_F(IsaKernel, DescriptorChecksWhatTheSourceSays) {
  const auto wrong = [&](std::string_view why) {
    const Entry entry = Audited();
    EXPECT_EQ(entry.finding, Finding::Disagrees);
    EXPECT_TRUE(entry.reason.find(why) != std::string::npos) << entry.reason;
    SetUp();
  };
  covers.pop_back();
  wrong("lengths of buffers");
  covers.clear();
  wrong("lengths of buffers");
  covers[1].first = 1;
  wrong("lengths of buffers");
  lengths.clear();
  wrong("lengths of buffers");
  lengths.emplace_back(2, 1);
  wrong("lengths of buffers");
  params[0].word = 1;
  wrong("other parameters");
  for (const uint32_t flag : {1u, 2u, 4u, 8u, 0x80000000u}) {
    data.flags = flag;
    wrong("in another way than its record says");
    data.flags = 0;
  }
  EXPECT_EQ(Audited().finding, Finding::Agrees);
  // As of a program that has no C++ signature.
  params.clear(), covers.clear(), lengths.clear(), data.word_count = 0;
  EXPECT_EQ(Audited().finding, Finding::Agrees);
}

// What a launch tests is what the record says, and a form under a guard is one that is audited, too.
TEST_F(IsaKernel, DescriptorTestsTheGuardOfTheRecord) {
  const auto reason = [&] {
    const Entry entry = Audited();
    EXPECT_EQ(entry.finding, Finding::Disagrees);
    return entry.reason;
  };
  const std::string another = "its descriptor tests another guard than its record says";
  guard_apart = {{0, 1}};
  EXPECT_EQ(reason(), another);
  kernel.guard = "apart(arg1; arg0)";
  EXPECT_EQ(Audited().finding, Finding::Agrees) << Audited().reason;
  guard_apart = {{0, 2}};
  EXPECT_EQ(reason(), another);
  guard_apart.clear();
  EXPECT_EQ(reason(), another);
  kernel.guard = "apart(arg1; arg0) && len(arg0) >= 3";
  guard_apart = {{0, 1}};
  EXPECT_EQ(reason(), another);
  guard_least = {{0, 2}};
  EXPECT_EQ(reason(), another);
  guard_least = {{0, 3}};
  EXPECT_EQ(Audited().finding, Finding::Agrees) << Audited().reason;
  // A guard that no launch tests, and one that is none.
  kernel.guard = "apart(arg1; arg0) && len(arg0) >= 3 && cpu(avx2)";
  EXPECT_EQ(reason(), another);
  kernel.guard = "apart(arg1";
  EXPECT_NE(reason().find("its guard cannot be read"), std::string::npos);
  kernel.guard = "true";
  guard_apart.clear(), guard_least.clear();
  EXPECT_EQ(Audited().finding, Finding::Agrees);
  // Somewhere in the file, where no descriptor is that a record refers to.
  data.guarded.offset = -64;
  EXPECT_EQ(reason(), "its form under a guard has no record");
  // Itself: that has a record, but a launch would look for a guard without end.
  data.guarded.offset = -static_cast<int32_t>(offsetof(embed::KernelData, guarded));
  EXPECT_EQ(reason(), "its form under a guard has one under a guard itself");
}

TEST_F(IsaKernel, DescriptorWithoutItsRecord) {
  const auto damage = [&](const std::string& file) {
    const std::vector<EmbeddedKernel> kernels = FindIn(file);
    EXPECT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels.at(0).record.name, "twice");
    return kernels.at(0).damage;
  };
  EXPECT_EQ(damage(File()), "");
  std::string file = File();
  file[RecordAt] = 'F';
  EXPECT_EQ(damage(file), "its descriptor refers to a record, and there is none");
  file = File();
  Put(file, RecordAt + 16, uint32_t{0});
  EXPECT_EQ(damage(file), "its record has version 0, not 2");
  // A copy of the descriptor, which the record does not name.
  file = File();
  embed::KernelData copy;
  std::memcpy(&copy, file.data() + DataAt, sizeof copy);
  file.resize((file.size() + 7) / 8 * 8);
  const auto distance = static_cast<int32_t>(file.size() - DataAt);
  for (int32_t* offset : {&copy.name.offset, &copy.params.data.offset, &copy.covers.data.offset,
                          &copy.lengths.data.offset, &copy.isa.data.offset, &copy.record.offset})
    *offset -= distance;
  Put(file, file.size(), copy);
  Put(file, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz), uint64_t{file.size()});
  Put(file, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_memsz), uint64_t{file.size()});
  const std::vector<EmbeddedKernel> kernels = FindIn(file);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].damage, "");
  EXPECT_EQ(kernels[1].damage, "its descriptor refers to a record of another one");
}

// Tables of other programs: few numbers, and distances that lead somewhere.
TEST_F(IsaKernel, WhatHasNoDigestIsNoDescriptor) {
  for (const char fill : {'\0', 'x'}) {
    std::memset(data.digest, fill, sizeof data.digest);
    std::string file = File();
    file[RecordAt] = 'F';
    EXPECT_TRUE(FindIn(file).empty());
  }
}

TEST_F(IsaKernel, HostileBytes) {
  const std::string file = File();
  for (size_t i = 0; i < file.size(); ++i)
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string changed = file;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      const Result<MemoryImage> image = MemoryImage::Read(changed);
      if (!image) continue;
      for (const EmbeddedKernel& each : FindKernels(*image))
        (void)ClaimsOf(each, Finding::NotChecked, "");
    }
}

// Files without any code, and folders.
TEST(Audit, NothingToJudge) {
  const AuditOptions options;
  const Result<AuditReport> memory = Audit("/proc/self/mem", options);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().diag, Diag::FileUnreadable);
  EXPECT_EQ(memory.error().file, "/proc/self/mem");
  std::string folder = testing::TempDir() + "audit_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  for (const char* part : {"", "/cas"}) {
    std::filesystem::create_directory(folder + part);
    const Result<AuditReport> nothing = Audit(folder, options);
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().message, "there is nothing to audit: no form is kept in it");
    EXPECT_EQ(nothing.error().file, folder);
  }
  std::filesystem::remove_all(folder);
}

TEST(Audit, OnlyWhatWasJudgedCounts) {
  AuditReport report;
  for (const Finding finding : {Finding::Agrees, Finding::NotChecked, Finding::NotChecked,
                                Finding::Refuted, Finding::Disagrees})
    report.entries.emplace_back().finding = finding;
  EXPECT_EQ(report.judged(), 3u);
}

verify::Evidence Of(verify::Grade grade) { return {grade, "judge", "detail", 1}; }

TEST(Decide, WhatIsFoundAgainstWhatIsClaimed) {
  using verify::Grade;
  const auto decide = [](verify::Verdict meaning, verify::Verdict code) {
    Entry entry;
    entry.claimed = {Of(Grade::Proved), Of(Grade::Sampled)};
    Decide(entry, meaning, code);
    return entry.finding;
  };
  const verify::Verdict proved = verify::Proved{Of(Grade::Proved)};
  const verify::Verdict exhaustive = verify::Proved{Of(Grade::Exhaustive)};
  const verify::Verdict sampled = verify::Tested{Of(Grade::Sampled)};
  const verify::Verdict unknown = verify::Unknown{"time"};
  const verify::Verdict refuted = verify::Refuted{{}, "1 against 2"};
  EXPECT_EQ(decide(proved, sampled), Finding::Agrees);
  EXPECT_EQ(decide(exhaustive, proved), Finding::Agrees) << "worth as much, and more";
  EXPECT_EQ(decide(sampled, sampled), Finding::Disagrees);
  EXPECT_EQ(decide(proved, unknown), Finding::NotChecked);
  EXPECT_EQ(decide(unknown, sampled), Finding::NotChecked);
  EXPECT_EQ(decide(unknown, refuted), Finding::Refuted) << "wrong code is wrong whatever it means";
  EXPECT_EQ(decide(sampled, unknown), Finding::Disagrees);
  EXPECT_EQ(decide(refuted, sampled), Finding::Refuted);
}

TEST(Entries, NoLineLooksLikeAnother) {
  Entry entry{"k\n\x1b[2Kother", "plain", {}, {}, Finding::Refuted, "why\r", "note"};
  MakePrintable(entry);
  EXPECT_EQ(entry.name, "k??[2Kother");
  EXPECT_EQ(entry.reason, "why?");
}

TEST(Entries, BytesAndBack) {
  Entry entry{"k", "avx2 plain", {}, {}, Finding::Refuted, "why", "note"};
  entry.claimed.meaning = Of(verify::Grade::Proved);
  const std::string bytes = PackEntries({entry, entry});
  std::vector<Entry> back;
  ASSERT_TRUE(UnpackEntries(bytes, back));
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[1].claimed.meaning, entry.claimed.meaning);
  EXPECT_EQ(back[1].finding, Finding::Refuted);
  EXPECT_FALSE(UnpackEntries(bytes.substr(1), back));
  EXPECT_EQ(back.size(), 2u);
}

}  // namespace
}  // namespace frazil::audit
