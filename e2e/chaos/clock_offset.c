/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a process, sets its wall clock off by KVCHAOS_CLOCK_OFFSET seconds; monotonic clocks stay what they are. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t offset(void) {
  static int known;
  static time_t seconds;
  if (!known) {
    const char* text = getenv("KVCHAOS_CLOCK_OFFSET");
    seconds = text != NULL ? (time_t)strtoll(text, NULL, 10) : 0;
    known = 1;
  }
  return seconds;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  int failed = (int)syscall(SYS_clock_gettime, clock, now);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += offset();
  return failed;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  struct timespec precise;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* result) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return (time_t)-1;
  if (result != NULL) *result = now.tv_sec;
  return now.tv_sec;
}

/* Java waits until a time of either clock, and the kernel knows ours only as it is: without this, a thread that waits until a time of
 * the wall clock would not wait at all, and take a whole processor. The clock is the one whose time is nearer. */
int pthread_cond_timedwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex,
                           const struct timespec* restrict until) {
  struct timespec wall;
  struct timespec monotonic;
  struct timespec real = *until;
  (void)clock_gettime(CLOCK_REALTIME, &wall);
  (void)clock_gettime(CLOCK_MONOTONIC, &monotonic);
  if (llabs((long long)until->tv_sec - wall.tv_sec) >= llabs((long long)until->tv_sec - monotonic.tv_sec))
    return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, until);
  real.tv_sec -= offset();
  return pthread_cond_clockwait(condition, mutex, CLOCK_REALTIME, &real);
}
