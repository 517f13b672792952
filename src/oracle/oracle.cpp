// Requests and answers as JSON. Programs travel as words, not as text: what is compared is the machine, and the
// two assemblers are compared by a test of their own.
#include "oracle/oracle.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/system/file.h"
#include "oracle/process.h"

namespace frazil::oracle {

namespace tasm = machines::tasm;
using Json = nlohmann::json;

namespace {

constexpr const char* ProgramName = "frazil-oracle";

constexpr std::pair<const char*, tasm::CrashKind> CrashKinds[] = {
    {"InstructionPointer", tasm::CrashKind::InstructionPointer},
    {"OpStackTooShallow", tasm::CrashKind::OpStackTooShallow},
    {"JumpStackEmpty", tasm::CrashKind::JumpStackEmpty},
    {"AssertionFailed", tasm::CrashKind::AssertionFailed},
    {"VectorAssertionFailed", tasm::CrashKind::VectorAssertionFailed},
    {"InverseOfZero", tasm::CrashKind::InverseOfZero},
    {"DivisionByZero", tasm::CrashKind::DivisionByZero},
    {"LogarithmOfZero", tasm::CrashKind::LogarithmOfZero},
    {"NotU32", tasm::CrashKind::NotU32},
    {"SpongeNotInitialized", tasm::CrashKind::SpongeNotInitialized},
    {"InputEmpty", tasm::CrashKind::InputEmpty},
    {"SecretEmpty", tasm::CrashKind::SecretEmpty},
    {"DigestsEmpty", tasm::CrashKind::DigestsEmpty},
    {"Cycles", tasm::CrashKind::Cycles},
};

template <typename Range>
Json Strings(const Range& elements) {
  Json array = Json::array();
  for (const uint64_t element : elements) array.push_back(std::to_string(element));
  return array;
}

std::unexpected<Error> Unexpected(std::string_view what) {
  return Fail(Diag::EngineFailed, fmt::format("the oracle's answer has no usable {}", what));
}

Result<uint64_t> Element(const Json& value) {
  uint64_t element = 0;
  if (!value.is_string()) return Unexpected("field element");
  const std::string& text = value.get_ref<const std::string&>();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), element);
  if (error != std::errc() || end != text.data() + text.size()) return Unexpected("field element");
  return element;
}

Result<std::vector<uint64_t>> Elements(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return Unexpected(name);
  std::vector<uint64_t> elements;
  for (const Json& value : *found) elements.push_back(TRY(Element(value)));
  return elements;
}

Result<tasm::Digest> DigestOf(const Json& object, const char* name) {
  const std::vector<uint64_t> elements = TRY(Elements(object, name));
  tasm::Digest digest{};
  if (elements.size() != digest.size()) return Unexpected(name);
  std::copy(elements.begin(), elements.end(), digest.begin());
  return digest;
}

Result<uint64_t> Number(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) return Unexpected(name);
  return found->get<uint64_t>();
}

Result<double> Seconds(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return Unexpected(name);
  return found->get<double>();
}

std::string Text(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<tasm::TableProfile> Heights(const Json& array) {
  tasm::TableProfile profile;
  if (!array.is_array() || array.size() != profile.heights.size()) return Unexpected("heights");
  for (size_t i = 0; i < profile.heights.size(); ++i) {
    if (!array[i].is_number_unsigned()) return Unexpected("heights");
    profile.heights[i] = array[i].get<uint64_t>();
  }
  return profile;
}

Json JobToJson(const Job& job) {
  Json item;
  item["words"] = Strings(tasm::Encode(job.program));
  item["cycles"] = job.cycles;
  if (!job.inputs.input.empty()) item["input"] = Strings(job.inputs.input);
  if (!job.inputs.secret.empty()) item["secret"] = Strings(job.inputs.secret);
  for (const tasm::Digest& digest : job.inputs.digests) item["digests"].push_back(Strings(digest));
  for (const auto& [address, value] : job.inputs.ram)
    item["ram"].push_back({std::to_string(address), std::to_string(value)});
  return item;
}

// The oracle speaks of word addresses; the instruction there, or code.size() past the end.
uint32_t InstructionAt(const tasm::Program& program, uint64_t address) {
  const std::vector<uint32_t> addresses = program.Addresses();
  const auto found = std::lower_bound(addresses.begin(), addresses.end(), address);
  return static_cast<uint32_t>(found - addresses.begin());
}

Result<tasm::Crash> CrashOf(const Json& object, const tasm::Program& program) {
  if (!object.is_object()) return Unexpected("crash");
  tasm::Crash crash{};
  const std::string kind = Text(object, "kind");
  const auto* row = std::find_if(std::begin(CrashKinds), std::end(CrashKinds),
                                 [&](const auto& entry) { return kind == entry.first; });
  if (row == std::end(CrashKinds)) return Unexpected("crash kind");
  crash.kind = row->second;
  crash.instruction = InstructionAt(program, TRY(Number(object, "address")));
  crash.cycle = TRY(Number(object, "cycle"));
  crash.sentence = Text(object, "sentence");
  if (const auto id = object.find("error_id"); id != object.end() && id->is_string())
    crash.error_id = std::strtoll(id->get_ref<const std::string&>().c_str(), nullptr, 10);
  // Programs travel as words, which carry no error ids; the program has them.
  else if (crash.instruction < program.code.size())
    crash.error_id = program.code[crash.instruction].error_id;
  const bool asserts = crash.kind == tasm::CrashKind::AssertionFailed ||
                       crash.kind == tasm::CrashKind::VectorAssertionFailed;
  if (!asserts) crash.error_id = -1;
  return crash;
}

// An answer's own error, told as such: a program that the machine refuses is the user's.
Result<void> CheckError(const Json& object) {
  if (!object.is_object()) return Unexpected("object");
  const auto error = object.find("error");
  if (error == object.end()) return {};
  return Fail(Diag::EngineFailed,
              error->is_string() ? error->get<std::string>() : "the oracle failed");
}

Result<tasm::RunResult> RunOf(const Json& object, const tasm::Program& program) {
  TRY_VOID(CheckError(object));
  tasm::RunResult run;
  run.output = TRY(Elements(object, "output"));
  run.stack = TRY(Elements(object, "stack"));
  run.cycles = TRY(Number(object, "cycles"));
  if (const auto crash = object.find("crash"); crash != object.end())
    run.crash = TRY(CrashOf(*crash, program));
  return run;
}

Result<Answer> AnswerOf(const Json& object, const tasm::Program& program) {
  Answer answer{TRY(RunOf(object, program)), std::nullopt};
  if (const auto heights = object.find("heights"); heights != object.end())
    answer.profile = TRY(Heights(*heights));
  return answer;
}

Result<Claim> ClaimOf(const Json& object) {
  const auto found = object.find("claim");
  if (found == object.end() || !found->is_object()) return Unexpected("claim");
  Claim claim;
  claim.program_digest = TRY(DigestOf(*found, "program_digest"));
  claim.version = static_cast<uint32_t>(TRY(Number(*found, "version")));
  claim.input = TRY(Elements(*found, "input"));
  claim.output = TRY(Elements(*found, "output"));
  return claim;
}

Result<void> CheckProfile(const tasm::Program& program) {
  if (program.profile == tasm::Profile::Dot) return {};
  return Fail(Diag::Unsupported, "the pinned Triton VM knows the instruction profile `dot` only");
}

}  // namespace

Result<std::string> FindOracle(const Options& options) {
  if (!options.program.empty()) return options.program;
  if (const char* named = ::secure_getenv("FRAZIL_ORACLE"); named != nullptr && *named != '\0')
    return named;
  const std::string folder = FolderOfThisProgram();
  const std::string places[] = {fmt::format("{}/{}", folder, ProgramName),
                                fmt::format("{}/../libexec/frazil/{}", folder, ProgramName)};
  for (const std::string& place : places)
    if (!folder.empty() && ::access(place.c_str(), X_OK) == 0) return place;
  Error error{Diag::MissingTool,
              fmt::format("the real Triton VM ({}) is neither beside this program nor in "
                          "{}/../libexec/frazil",
                          ProgramName, folder)};
  error.hint = "build it with `make oracle` (it needs cargo), or set FRAZIL_ORACLE to its path";
  return std::unexpected(std::move(error));
}

struct Session::State {
  Options options;
  std::unique_ptr<Process> process;

  Result<std::string> Send(const std::string& line) {
    if (process == nullptr) process = TRY(Process::Start(TRY(FindOracle(options))));
    Result<std::string> answer = process->Exchange(line, options.timeout);
    if (!answer) process.reset();
    return answer;
  }

  Result<Json> Ask(const char* what, Json request) {
    request["do"] = what;
    const std::string line =
        TRY(Send(request.dump(-1, ' ', false, Json::error_handler_t::replace)));
    Json answer = Json::parse(line, nullptr, false);
    if (answer.is_discarded()) return Unexpected("JSON");
    TRY_VOID(CheckError(answer));
    return answer;
  }

  Result<std::vector<Result<Answer>>> AskAll(const char* what, std::span<const Job> jobs) {
    Json items = Json::array();
    for (const Job& job : jobs) {
      TRY_VOID(CheckProfile(job.program));
      items.push_back(JobToJson(job));
    }
    const Json answer = TRY(Ask(what, {{"items", std::move(items)}}));
    const auto results = answer.find("results");
    if (results == answer.end() || !results->is_array() || results->size() != jobs.size())
      return Unexpected("results");
    std::vector<Result<Answer>> answers;
    answers.reserve(jobs.size());
    for (size_t i = 0; i < jobs.size(); ++i)
      answers.push_back(AnswerOf((*results)[i], jobs[i].program));
    return answers;
  }
};

Session::Session(Options options) : state_(new State{std::move(options), nullptr}) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Result<Version> Session::GetVersion() {
  const Json answer = TRY(state_->Ask("version", Json::object()));
  return Version{Text(answer, "triton_vm"),
                 static_cast<uint32_t>(TRY(Number(answer, "proof_version"))),
                 Text(answer, "build")};
}

Result<tasm::RunResult> Session::Run(const Job& job) {
  TRY_VOID(CheckProfile(job.program));
  return RunOf(TRY(state_->Ask("run", JobToJson(job))), job.program);
}

Result<Answer> Session::Trace(const Job& job) {
  TRY_VOID(CheckProfile(job.program));
  return AnswerOf(TRY(state_->Ask("trace", JobToJson(job))), job.program);
}

Result<std::vector<Result<Answer>>> Session::TraceAll(std::span<const Job> jobs) {
  return state_->AskAll("trace", jobs);
}
Result<std::vector<Result<Answer>>> Session::RunAll(std::span<const Job> jobs) {
  return state_->AskAll("run", jobs);
}

Result<ProfileAnswer> Session::Profile(const Job& job) {
  TRY_VOID(CheckProfile(job.program));
  // As text: labels are what the profiler speaks of.
  Json request = JobToJson(job);
  request.erase("words");
  request["code"] = tasm::Print(job.program);
  const Json answer = TRY(state_->Ask("profile", std::move(request)));
  ProfileAnswer profile{TRY(AnswerOf(answer, job.program)), {}};
  const auto lines = answer.find("lines");
  if (lines == answer.end()) return profile;
  for (const Json& line : *lines) {
    if (!line.is_object()) return Unexpected("profile");
    ProfileLine row{Text(line, "label"), TRY(Number(line, "depth")),
                    TRY(Heights(line.value("stop", Json())))};
    const tasm::TableProfile start = TRY(Heights(line.value("start", Json())));
    for (size_t i = 0; i < start.heights.size(); ++i) row.rows.heights[i] -= start.heights[i];
    profile.lines.push_back(std::move(row));
  }
  return profile;
}

Result<tasm::Digest> Session::ProgramDigest(const tasm::Program& program) {
  TRY_VOID(CheckProfile(program));
  return DigestOf(TRY(state_->Ask("digest", {{"words", Strings(tasm::Encode(program))}})),
                  "digest");
}

Result<std::vector<uint64_t>> Session::Assemble(const std::string& text) {
  return Elements(TRY(state_->Ask("digest", {{"code", text}})), "words");
}

Result<std::vector<Example>> Session::Examples() {
  const Json answer = TRY(state_->Ask("examples", Json::object()));
  const auto list = answer.find("examples");
  if (list == answer.end() || !list->is_array()) return Unexpected("examples");
  std::vector<Example> examples;
  for (const Json& item : *list) {
    if (!item.is_object()) return Unexpected("examples");
    examples.push_back({Text(item, "name"), Text(item, "code")});
  }
  return examples;
}

Result<ProveAnswer> Session::Prove(const Job& job, const std::string& file,
                                   uint64_t max_padded_height) {
  TRY_VOID(CheckProfile(job.program));
  Json request = JobToJson(job);
  request["max_padded_height"] = max_padded_height;
  if (!file.empty()) request["file"] = file;
  const Json answer = TRY(state_->Ask("prove", std::move(request)));
  ProveAnswer proof;
  proof.run = TRY(RunOf(answer, job.program));
  if (proof.run.crash) return proof;
  proof.claim = TRY(ClaimOf(answer));
  proof.profile = TRY(Heights(answer.value("heights", Json())));
  proof.padded_height = TRY(Number(answer, "padded_height"));
  proof.proof_bytes = TRY(Number(answer, "proof_bytes"));
  proof.peak_bytes = TRY(Number(answer, "peak_bytes"));
  proof.trace_seconds = TRY(Seconds(answer, "trace_seconds"));
  proof.prove_seconds = TRY(Seconds(answer, "prove_seconds"));
  proof.verify_seconds = TRY(Seconds(answer, "verify_seconds"));
  return proof;
}

Result<VerifyAnswer> Session::Verify(const std::string& file,
                                     const std::optional<tasm::Digest>& expected) {
  Json request = {{"file", file}};
  if (expected) request["digest"] = Strings(*expected);
  const Json answer = TRY(state_->Ask("verify", std::move(request)));
  VerifyAnswer verdict;
  const auto holds = answer.find("holds");
  if (holds == answer.end() || !holds->is_boolean()) return Unexpected("verdict");
  verdict.holds = holds->get<bool>();
  verdict.reason = Text(answer, "reason");
  verdict.claim = TRY(ClaimOf(answer));
  if (verdict.holds && expected && verdict.claim.program_digest != *expected) {
    verdict.holds = false;
    verdict.reason = "the proof is about another program";
  }
  verdict.proof_bytes = TRY(Number(answer, "proof_bytes"));
  verdict.verify_seconds = TRY(Seconds(answer, "verify_seconds"));
  if (verdict.holds) verdict.padded_height = TRY(Number(answer, "padded_height"));
  return verdict;
}

Result<std::string> Session::Raw(const std::string& line) { return state_->Send(line); }

}  // namespace frazil::oracle
