// frazil why: what runs for a program, since when, why it may be trusted, what it saved and what would reopen it;
// told from the store, in at most five lines.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/duration.h"
#include "cli.h"
#include "engine/engine.h"
#include "exec/native/native_code.h"
#include "ir/digest.h"
#include "store/store.h"
#include "verify/verified.h"

namespace frazil::cli {
namespace {

// Of code alone: an image says more than that.
size_t BytesOf(const exec::CompiledForm& form) {
  const Result<exec::NativeImage> image = exec::ParseImage(form.payload);
  return image ? image->code.size() : form.payload.size();
}

struct WhyOptions {
  std::string program;  // a digest or its beginning, or a .frz file
  std::string store;
};

bool IsDigest(const std::string& text) {
  return text.size() >= 6 && text.size() <= 64 &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos &&
         !std::filesystem::exists(text);
}

int TellNothing(const Session& session, const std::string& digest) {
  if (session.json) {
    PrintJson({{"signature", digest}, {"state", "fluid"}});
    return 0;
  }
  PrintFact(session, "what",
            fmt::format("{}: the interpreter answers, no compiled form is stored", digest));
  PrintFact(session, "trust", "the interpreter is the meaning of the program");
  PrintFact(session, "reopens", "a verified form that is cheaper: call it often (frazil loop)");
  return 0;
}

Result<int> Why(Session& session, const WhyOptions& options) {
  const bool is_digest = IsDigest(options.program);
  const std::string digest =
      is_digest ? options.program
                : ir::ExactDigest(TRY(ReadProgramFile(options.program, session.limits)));
  store::StoreOptions store_options;
  store_options.directory = options.store;
  const std::unique_ptr<store::Store> store = store::Store::Open(store_options);
  if (!store->reason().empty()) return Fail(Diag::StoreUnusable, store->reason());
  std::optional<store::Store::Entry> newest;
  for (const store::Store::Entry& entry : store->List()) {
    if (!entry.key.source_exact.starts_with(digest)) continue;
    if (newest && newest->key.source_exact != entry.key.source_exact)
      return Fail(Diag::BadUsage,
                  fmt::format("'{}' is the beginning of more than one digest.", digest));
    newest = entry;
  }
  // A program that is at hand is one that the interpreter answers; of a digest alone nothing is known.
  if (!newest && is_digest)
    return Fail(Diag::BadUsage,
                fmt::format("no form of a program whose digest begins with '{}' is stored in {}",
                            digest, store->directory()));
  if (!newest) return TellNothing(session, digest);
  // Shown, not called: the policy of whoever calls it is asked then.
  const verify::Policy any{verify::Grade::None, verify::Grade::None};
  const auto form = store->FindVerified(newest->key, any);
  const std::string exact = newest->key.source_exact;
  if (!form && session.json) {
    PrintJson({{"signature", exact}, {"state", "fluid"}, {"stored", "not sealed here"}});
    return 0;
  }
  if (!form) {
    PrintFact(session, "what", fmt::format("{}: the interpreter answers", ir::ShortDigest(exact)));
    PrintFact(session, "trust",
              "the stored form was not sealed by this installation: its code is never called");
    PrintFact(session, "reopens", "the next hot loop lowers and verifies its program again");
    return 0;
  }
  const exec::CompiledForm& compiled = **form;
  const auto* time = std::get_if<exec::CallTime>(&compiled.cost);
  const exec::CallTime cost = time != nullptr ? *time : exec::CallTime();
  const store::Store::Observed seen = store->MergedProfiles()[exact];
  const double reference = cost.reference_ns * static_cast<double>(seen.calls);
  const double saved = std::max(0.0, reference - static_cast<double>(seen.ns));
  const std::string since = fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(newest->modified));
  if (session.json) {
    PrintJson({{"signature", exact},
               {"state", "solid"},
               {"target", compiled.target},
               {"guard", compiled.guard},
               {"since", since},
               {"toolchain", compiled.toolchain},
               {"meaning", verify::GradeName(form->evidence().meaning.grade)},
               {"lowering", verify::GradeName(form->evidence().lowering.grade)},
               {"calls", seen.calls},
               {"saved_ns", saved}});
    return 0;
  }
  PrintFact(session, "what",
            fmt::format("{}: {} code for {}, {} bytes, guard {}", ir::ShortDigest(exact),
                        compiled.target, compiled.profile, BytesOf(compiled), compiled.guard));
  PrintFact(session, "since", fmt::format("{}, made by {}", since, compiled.toolchain));
  PrintFact(session, "trust", verify::Describe(form->evidence()));
  PrintFact(session, "saved",
            fmt::format("{} a call instead of {}; {} calls seen, {} saved",
                        PrintDuration(cost.ns_per_call), PrintDuration(cost.reference_ns),
                        seen.calls, PrintDuration(saved)));
  PrintFact(session, "reopens",
            "a shadow run that differs, a guard that misses too often, another toolchain or CPU");
  return 0;
}

}  // namespace

void AddWhy(CLI::App& app, Session& session) {
  CLI::App* command =
      AddCommand(app, "why", "tell what runs for a program and why it may be trusted",
                 "  frazil why examples/saxpy.frz\n"
                 "  frazil why 0a1b2c3d4e5f");
  auto options = std::make_shared<WhyOptions>();
  command->add_option("program", options->program, "a digest or its beginning, or a .frz file")
      ->required();
  command->add_option("--store", options->store, "folder of the store");
  SetBody(command, session, [&session, options] { return Why(session, *options); });
}

}  // namespace frazil::cli
