import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'

/** Small file systems of a campaign. They are mounted in a namespace of this process, so that they end with it. */

const INSIDE = 'GRANTOR_PROVE_MOUNTS'
const CHUNKS = [64 * 1024, 512, 1] as const

/** Starts this program again in a mount namespace, and ends this process with it. Without root, as root of a user namespace. */
export function enterMountNamespace(): void {
  if (process.env[INSIDE] !== undefined) return
  const own = ['--mount', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'])]
  const words = [...own, process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const { status, error } = spawnSync('unshare', words, { stdio: 'inherit', env: { ...process.env, [INSIDE]: 'yes' } })
  if (error !== undefined) throw error
  process.exit(status ?? 1)
}

/** A file system in memory of this size. */
export function mountTmpfs(folder: string, mebibytes: number): void {
  mkdirSync(folder)
  run('mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0700`, 'tmpfs', folder)
  unmountAtExit(folder)
}

/** Writes a file until the file system is full. Returns the function that makes room again. */
export function fillDisk(folder: string): () => void {
  const path = join(folder, 'filler')
  const file = openSync(path, 'w')
  for (const bytes of CHUNKS) while (canWrite(file, Buffer.alloc(bytes)));
  closeSync(file)
  return () => rmSync(path)
}

/** An ext4 in a file, mounted by a loop device, which becomes read-only at an error. */
export interface FailingDisk {
  /** Reports an error to the file system, as one of the disk does. */
  readonly fail: () => void
  /** Checks and mounts it again. No file of it may be open. */
  readonly mountAgain: (how: 'rw' | 'ro') => void
}

export function mountExt4(image: string, folder: string, mebibytes: number): FailingDisk {
  run('truncate', '-s', `${mebibytes}M`, image)
  run('mkfs.ext4', '-q', image)
  mkdirSync(folder)
  const mount = (how: 'rw' | 'ro'): void => run('mount', '-o', `loop,errors=remount-ro,${how}`, image, folder)
  mount('rw')
  unmountAtExit(folder)
  return {
    fail() {
      const device = basename(execFileSync('findmnt', ['-n', '-o', 'SOURCE', folder], { encoding: 'utf8' }).trim())
      const file = openSync(`/sys/fs/ext4/${device}/trigger_fs_error`, 'w')
      writeSync(file, 'prove disk')
      closeSync(file)
    },
    mountAgain(how) {
      run('umount', folder)
      // 1: errors were corrected.
      const { status, stdout } = spawnSync('fsck.ext4', ['-p', image], { encoding: 'utf8' })
      if (status !== 0 && status !== 1) throw new Error(`fsck.ext4 ended with ${status}: ${stdout}`)
      mount(how)
    },
  }
}

/** Before the folder of the session is removed. */
function unmountAtExit(folder: string): void {
  process.prependOnceListener('exit', () => spawnSync('umount', ['--lazy', folder]))
}

/** The options with which a folder is mounted, as the kernel shows them. */
export function mountOptions(folder: string): string {
  const line = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .find((one) => one.split(' ')[1] === folder)
  return line?.split(' ')[3] ?? 'not mounted'
}

function canWrite(file: number, chunk: Buffer): boolean {
  try {
    return writeSync(file, chunk) > 0
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOSPC') throw cause
    return false
  }
}

function run(program: string, ...words: readonly string[]): void {
  execFileSync(program, words, { stdio: ['ignore', 'ignore', 'pipe'] })
}
