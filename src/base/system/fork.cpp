// One lock for the whole process, shared by everybody who holds a ForkMutex and taken alone by whoever forks. A thread
// shares it once, however many it holds: one that waited here while it holds another would wait for a fork that waits
// for it. Threads that share nothing yet stand back while a fork waits, or it might wait long (400 ms beside three busy
// threads, before they did).
#include "base/system/fork.h"

#include <pthread.h>

#include <new>

#if defined(__SANITIZE_THREAD__)
#define FRAZIL_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FRAZIL_TSAN 1
#endif
#endif
#ifdef FRAZIL_TSAN
extern "C" void AnnotateRWLockReleased(const char* file, int line, const volatile void* lock,
                                       long is_write);
#endif

namespace frazil {
namespace {

pthread_rwlock_t gate = PTHREAD_RWLOCK_INITIALIZER;
pthread_mutex_t turnstile = PTHREAD_MUTEX_INITIALIZER;  // held by whoever forks
std::atomic<bool> fork_waits = false;
thread_local int held = 0;  // ForkMutexes, by this thread

}  // namespace

struct ForkHandlers {
  std::mutex mutex;  // of the list; taken while the gate is shared
  AfterFork* first = nullptr;
  AfterFork* last = nullptr;

  ForkHandlers() { pthread_atfork(Prepare, InParent, InChild); }

  static ForkHandlers& Get() {
    // Never destroyed: static objects may end after it would have.
    static ForkHandlers* const handlers = new ForkHandlers;
    return *handlers;
  }

  static void Share() {
    if (held++ != 0) return;
    if (fork_waits.load(std::memory_order_relaxed)) {
      pthread_mutex_lock(&turnstile);
      pthread_mutex_unlock(&turnstile);
    }
    pthread_rwlock_rdlock(&gate);
  }
  static void Unshare() {
    if (--held == 0) pthread_rwlock_unlock(&gate);
  }

  static void Prepare() {
    if (held != 0) return;
    pthread_mutex_lock(&turnstile);
    fork_waits = true;
    pthread_rwlock_wrlock(&gate);
  }
  static void InParent() {
    if (held != 0) return;
    fork_waits = false;
    pthread_rwlock_unlock(&gate);
    pthread_mutex_unlock(&turnstile);
  }
  static void InChild() {
#ifdef FRAZIL_TSAN
    // It remembers what the forking thread took in Prepare, whatever is made anew.
    if (held == 0) AnnotateRWLockReleased(__FILE__, __LINE__, &gate, 1);
    if (held == 0) AnnotateRWLockReleased(__FILE__, __LINE__, &turnstile, 1);
#endif
    // Made anew: the owner on record is the parent's thread, whose number the child's thread does not have.
    pthread_rwlock_init(&gate, nullptr);
    pthread_mutex_init(&turnstile, nullptr);
    fork_waits = false;
    if (held != 0) pthread_rwlock_rdlock(&gate);
    for (AfterFork* told = Get().first; told != nullptr; told = told->next_) told->in_child_();
  }

  void Add(AfterFork& told) {
    Share();
    {
      std::lock_guard lock(mutex);
      told.previous_ = last;
      (last != nullptr ? last->next_ : first) = &told;
      last = &told;
    }
    Unshare();
  }
  void Remove(AfterFork& told) {
    Share();
    {
      std::lock_guard lock(mutex);
      (told.previous_ != nullptr ? told.previous_->next_ : first) = told.next_;
      (told.next_ != nullptr ? told.next_->previous_ : last) = told.previous_;
    }
    Unshare();
  }
};

ForkMutex::ForkMutex() { ForkHandlers::Get(); }

void ForkMutex::lock() {
  ForkHandlers::Share();
  mutex_.lock();
}

bool ForkMutex::try_lock() {
  ForkHandlers::Share();
  if (mutex_.try_lock()) return true;
  ForkHandlers::Unshare();
  return false;
}

void ForkMutex::unlock() {
  mutex_.unlock();
  ForkHandlers::Unshare();
}

AfterFork::AfterFork(std::function<void()> in_child) : in_child_(std::move(in_child)) {
  ForkHandlers::Get().Add(*this);
}
AfterFork::~AfterFork() { ForkHandlers::Get().Remove(*this); }

void ForkCondition::NotifyAll() {
  std::lock_guard lock(mutex_);
  condition_.notify_all();
}

bool ForkCondition::WaitOnce(std::unique_lock<ForkMutex>& lock,
                             std::chrono::steady_clock::time_point end) {
  bool woken = true;
  {
    std::unique_lock inner(mutex_);
    lock.unlock();
    if (end == std::chrono::steady_clock::time_point::max())
      condition_.wait(inner);
    else
      woken = condition_.wait_until(inner, end) == std::cv_status::no_timeout;
  }
  lock.lock();
  return woken;
}

// Without destructors: that of a condition variable waits for those who wait.
void ForkCondition::Renew() {
  new (&mutex_) std::mutex;
  new (&condition_) std::condition_variable;
}

}  // namespace frazil
