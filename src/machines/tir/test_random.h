// Random well-formed TIR for tests: every op occurs, heights always fit, most programs end, some crash.
#pragma once

#include "machines/tir/interpreter.h"
#include "machines/tir/test_random_ops.h"

namespace frazil::machines::tir {

class RandomMaker : RandomOps {
 public:
  using RandomOps::RandomOps;

  Program Whole() {
    Program program;
    program.ops.push_back(Named(Kind::Entry, "main"));
    const uint64_t helpers = Below(4);
    for (uint64_t i = 0; i < helpers; ++i)
      Function(program, "f" + std::to_string(i), Below(4), Below(4));
    Function(program, "main", 0, Below(3));
    return program;
  }

 private:
  struct Callee {
    std::string name;
    uint64_t args, results;
  };
  void Function(Program& program, const std::string& name, uint64_t args, uint64_t results) {
    program.ops.push_back(Named(Kind::FnStart, name));
    results_ = results;
    Ops body;
    uint64_t height = args;
    Body(body, height, 0, 0, false);
    To(body, height, results);
    if (One(4)) body.push_back(Make(Kind::Return));
    for (Op& op : body) program.ops.push_back(std::move(op));
    program.ops.push_back(Make(Kind::FnEnd));
    callees_.push_back({name, args, results});
  }

  void Body(Ops& ops, uint64_t& height, uint64_t floor, int depth, bool loop) {
    const uint64_t count = depth == 0 ? 4 + Below(14) : Below(5);
    for (uint64_t i = 0; i < count; ++i) {
      if (height > floor + 20) To(ops, height, floor + 10);
      if (depth < 4 && One(4)) {
        Structure(ops, height, floor, depth, loop);
      } else {
        Simple(ops, height, floor);
      }
    }
  }

  Ops Net(uint64_t height, uint64_t floor, int64_t net, int depth, bool loop) {
    Ops ops;
    const uint64_t target = height + static_cast<uint64_t>(net);
    Body(ops, height, floor, depth, loop);
    To(ops, height, target);
    return ops;
  }

  // An arm that leaves the function or the program instead of going on.
  void Leave(Ops& arm, uint64_t height, bool loop) {
    if (!One(5)) return;
    if (loop || One(4)) {
      if (options_.halts) arm.push_back(Make(Kind::Halt));
    } else if (options_.returns) {
      To(arm, height, results_);
      arm.push_back(Make(Kind::Return));
    }
  }

  void Condition(Ops& ops, uint64_t& height, uint64_t floor) {
    if (height == floor || One(3)) {
      ops.push_back(Make(Kind::Push, Below(3)));
    } else {
      ops.push_back(Make(Kind::Dup, Below(std::min<uint64_t>(height - floor, 15))));
    }
    if (One(3)) {
      ops.push_back(Make(Kind::Push, 0));
      ops.push_back(Make(Kind::Eq));
    }
    ++height;
  }

  void Structure(Ops& ops, uint64_t& height, uint64_t floor, int depth, bool loop) {
    switch (Below(8)) {
      case 0:
      case 1: {
        Condition(ops, height, floor);
        Op op{Kind::IfElse};
        --height;
        const int64_t net = static_cast<int64_t>(Below(3)) -
                            static_cast<int64_t>(std::min<uint64_t>(height - floor, Below(2)));
        op.body = Net(height, floor, net, depth + 1, loop);
        op.other = Net(height, floor, net, depth + 1, loop);
        const uint64_t after = height + static_cast<uint64_t>(net);
        Leave(One(2) ? op.body : op.other, after, loop);
        height = after;
        ops.push_back(std::move(op));
        break;
      }
      case 2: {
        Condition(ops, height, floor);
        Op op{Kind::IfOnly};
        --height;
        op.body = Net(height, floor, 0, depth + 1, loop);
        Leave(op.body, height, loop);
        ops.push_back(std::move(op));
        break;
      }
      case 3: {
        ops.push_back(Make(Kind::Push, Below(4)));
        if (One(2)) ops.push_back(Make(Kind::AddI, Below(2)));
        ++height;
        Op op{Kind::Loop};
        op.body = Net(height, height, 0, depth + 1, true);
        ops.push_back(std::move(op));
        break;
      }
      case 4: While(ops, height, depth); break;
      case 5: Repeat(ops, height, depth); break;
      case 6: {
        Op op{Kind::ProofBlock};
        op.text = "ff00";
        Body(op.body, height, floor, depth + 1, loop);
        ops.push_back(std::move(op));
        break;
      }
      default:
        if (callees_.empty()) break;
        const Callee& callee = callees_[Below(callees_.size())];
        Need(ops, height, floor, callee.args);
        ops.push_back(Named(Kind::Call, callee.name));
        height = height - callee.args + callee.results;
    }
  }

  void While(Ops& ops, uint64_t& height, int depth) {
    ops.push_back(Make(Kind::Push, Below(4)));
    ++height;
    Op op{Kind::While};
    if (One(3)) op.body = Net(height, height, 0, depth + 2, true);
    op.body.push_back(Make(Kind::Dup, 0));
    for (uint64_t i = Below(3) * 2; i > 0; --i) {
      op.body.push_back(Make(Kind::Push, 0));
      op.body.push_back(Make(Kind::Eq));
    }
    op.other = Net(height, height, 0, depth + 1, true);
    op.other.push_back(Make(Kind::AddI, goldilocks::P - 1));
    if (One(3)) {
      Op skip{Kind::IfElse};
      Condition(op.other, height, height - 1);
      --height;
      skip.body = Net(height, height, 0, depth + 2, true);
      skip.other = Net(height, height, 0, depth + 2, true);
      op.other.push_back(std::move(skip));
    }
    ops.push_back(std::move(op));
  }

  void Repeat(Ops& ops, uint64_t& height, int depth) {
    ops.push_back(Make(Kind::Push, 1 + Below(3)));
    for (int i = 0; i < 6; ++i) ops.push_back(Make(Kind::Push, 0));
    height += 7;
    Op op{Kind::Repeat};
    op.body = Net(height, height, 0, depth + 1, true);
    op.body.push_back(Make(Kind::Pick, 5));
    op.body.push_back(Make(Kind::AddI, 1));
    op.body.push_back(Make(Kind::Place, 5));
    ops.push_back(std::move(op));
  }

  std::vector<Callee> callees_;
  uint64_t results_ = 0;
};

inline Program RandomProgram(std::mt19937_64& random, const RandomOptions& options = {}) {
  return RandomMaker(random, options).Whole();
}

inline Inputs RandomInputs(std::mt19937_64& random) {
  Inputs inputs;
  auto element = [&] { return random() % 3 == 0 ? random() % goldilocks::P : random() % 50; };
  for (int i = 0; i < 60; ++i) inputs.input.push_back(element());
  for (int i = 0; i < 60; ++i) inputs.secret.push_back(element());
  for (int i = 0; i < 10; ++i)
    inputs.digests.push_back({element(), element(), element(), element(), element()});
  for (int i = 0; i < 50; ++i) inputs.ram[random() % 60] = element();
  return inputs;
}

}  // namespace frazil::machines::tir
