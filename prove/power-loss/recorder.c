// Preloaded into a server on Linux: records what it does to the files of a folder, in order and with the data, so that prove/power-loss can
// build what a disk has at any time. A call that would not be recorded ends the process.
//
//   RECORD_FOLDER  the folder, without a slash at its end
//   RECORD_FILE    where the records go: see records.ts. Several processes may have one file.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { OPEN = 1, WRITE, TRUNCATE, BEGIN_SYNC, END_SYNC, RENAME, UNLINK, LINK, MKDIR };
#define FILES 4096

struct record {
  uint32_t operation, path_length, other_length, data_length;
  uint64_t time, inode;
  int64_t offset;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// The inode of each open file below the folder; 0: another file.
static uint64_t inodes[FILES];
static int output = -1;
static const char *folder;

static void put(const void *bytes, size_t length) {
  for (const char *at = bytes; length > 0;) {
    long written = syscall(SYS_write, output, at, length);
    if (written <= 0) abort();
    at += written;
    length -= written;
  }
}

static void keep(uint32_t operation, uint64_t inode, int64_t offset, const char *path, const char *other, const void *data, size_t length) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  struct record record = {operation, path ? strlen(path) : 0, other ? strlen(other) : 0, length,
                          now.tv_sec * 1000000000ull + now.tv_nsec, inode, offset};
  put(&record, sizeof record);
  if (path) put(path, record.path_length);
  if (other) put(other, record.other_length);
  if (length) put(data, length);
}

// What happens between begin and end is one event of all threads of all processes, so that the records have its order.
static void begin(void) {
  pthread_mutex_lock(&lock);
  while (output >= 0 && syscall(SYS_flock, output, LOCK_EX)) continue;
}

static void end(void) {
  if (output >= 0) syscall(SYS_flock, output, LOCK_UN);
  pthread_mutex_unlock(&lock);
}

static void open_output(void) {
  folder = getenv("RECORD_FOLDER");
  const char *file = getenv("RECORD_FILE");
  output = folder && file ? syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -2;
  if (output == -1) abort();
}

static int is_inside(const char *path) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_output);
  if (output == -2 || !path) return 0;
  size_t length = strlen(folder);
  return !strncmp(path, folder, length) && (path[length] == '/' || path[length] == 0);
}

static uint64_t inode_of(int file) { return file >= 0 && file < FILES ? inodes[file] : 0; }

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = dlsym(RTLD_NEXT, #name)

static int note_open(int file, int flags, const char *path) {
  struct stat status;
  if (file < 0) return file;
  if (file >= FILES || fstat(file, &status)) abort();
  inodes[file] = status.st_ino;
  keep(OPEN, status.st_ino, flags, path, NULL, NULL, 0);
  return file;
}

#define OPENER(name, parameters, arguments) \
  int name parameters { \
    REAL(name); \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
      va_list rest; \
      va_start(rest, flags); \
      mode = va_arg(rest, mode_t); \
      va_end(rest); \
    } \
    if (!is_inside(path)) return real arguments; \
    begin(); \
    int file = note_open(real arguments, flags, path); \
    end(); \
    return file; \
  }
OPENER(open, (const char *path, int flags, ...), (path, flags, mode))
OPENER(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENER(openat, (int at, const char *path, int flags, ...), (at, path, flags, mode))
OPENER(openat64, (int at, const char *path, int flags, ...), (at, path, flags, mode))

int close(int file) {
  REAL(close);
  if (inode_of(file)) {
    begin();
    inodes[file] = 0;
    end();
  }
  return real(file);
}

#define WRITER(name, parameters, arguments, place) \
  ssize_t name parameters { \
    REAL(name); \
    uint64_t inode = inode_of(file); \
    if (!inode) return real arguments; \
    begin(); \
    int64_t start = place; \
    ssize_t written = real arguments; \
    if (written > 0) keep(WRITE, inode, start, NULL, NULL, bytes, written); \
    end(); \
    return written; \
  }
static int64_t place_of(int file) {
  struct stat status;
  if (fcntl(file, F_GETFL) & O_APPEND) return fstat(file, &status) ? -1 : status.st_size;
  return lseek(file, 0, SEEK_CUR);
}
WRITER(write, (int file, const void *bytes, size_t length), (file, bytes, length), place_of(file))
WRITER(pwrite, (int file, const void *bytes, size_t length, off_t offset), (file, bytes, length, offset), offset)
WRITER(pwrite64, (int file, const void *bytes, size_t length, off64_t offset), (file, bytes, length, offset), offset)

#define REFUSED(name, parameters, arguments) \
  ssize_t name parameters { \
    REAL(name); \
    if (inode_of(file)) abort(); \
    return real arguments; \
  }
REFUSED(writev, (int file, const struct iovec *parts, int count), (file, parts, count))
REFUSED(pwritev, (int file, const struct iovec *parts, int count, off_t offset), (file, parts, count, offset))
REFUSED(pwritev64, (int file, const struct iovec *parts, int count, off64_t offset), (file, parts, count, offset))

#define TRUNCATER(name, type) \
  int name(int file, type size) { \
    REAL(name); \
    uint64_t inode = inode_of(file); \
    if (!inode) return real(file, size); \
    begin(); \
    int result = real(file, size); \
    if (!result) keep(TRUNCATE, inode, size, NULL, NULL, NULL, 0); \
    end(); \
    return result; \
  }
TRUNCATER(ftruncate, off_t)
TRUNCATER(ftruncate64, off64_t)

// What was written before the beginning is on the disk at the end.
#define SYNCER(name) \
  int name(int file) { \
    REAL(name); \
    uint64_t inode = inode_of(file); \
    if (!inode) return real(file); \
    begin(); \
    keep(BEGIN_SYNC, inode, 0, NULL, NULL, NULL, 0); \
    end(); \
    int result = real(file); \
    begin(); \
    if (!result) keep(END_SYNC, inode, 0, NULL, NULL, NULL, 0); \
    end(); \
    return result; \
  }
SYNCER(fsync)
SYNCER(fdatasync)

#define NAMER(name, operation, parameters, arguments, one, two) \
  int name parameters { \
    REAL(name); \
    if (!is_inside(one)) return real arguments; \
    begin(); \
    int result = real arguments; \
    if (!result) keep(operation, 0, 0, one, two, NULL, 0); \
    end(); \
    return result; \
  }
NAMER(rename, RENAME, (const char *path, const char *other), (path, other), path, other)
NAMER(link, LINK, (const char *path, const char *other), (path, other), path, other)
NAMER(unlink, UNLINK, (const char *path), (path), path, NULL)
NAMER(rmdir, UNLINK, (const char *path), (path), path, NULL)

int mkdir(const char *path, mode_t mode) {
  REAL(mkdir);
  if (!is_inside(path)) return real(path, mode);
  begin();
  int result = real(path, mode);
  if (!result) keep(MKDIR, 0, 0, path, NULL, NULL, 0);
  end();
  return result;
}
