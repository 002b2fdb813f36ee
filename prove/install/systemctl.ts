import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, globSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * The stand-in for `systemctl` where systemd is not the first process. It starts and stops services as their units say: with the
 * user, the folders, the environment and the credentials, and without the other restrictions. It records every call.
 */

const UNITS = '/etc/systemd/system'
const STATE = '/var/lib'
const STOP_LIMIT_MS = 10_000

const { SANDBOX = '', PATH = '' } = process.env
const [verb = '', ...rest] = process.argv.slice(2)
const name = rest.find((word) => !word.startsWith('-'))
appendFileSync(join(SANDBOX, 'systemctl.calls'), `systemctl ${process.argv.slice(2).join(' ')}\n`)

const starts = ['start', 'restart'].includes(verb) || rest.includes('--now')
if (name !== undefined && !name.endsWith('.timer') && starts) await restart(name.replace(/\.service$/, ''))

async function restart(service: string): Promise<void> {
  await stop(service)
  const unit = readUnit(service)
  const one = (key: string): string => unit.get(key)?.at(-1) ?? ''
  const user = one('User')
  for (const folder of unit.get('StateDirectory') ?? [])
    execFileSync('install', [
      '-d',
      '-o',
      user,
      '-g',
      one('Group'),
      '-m',
      one('StateDirectoryMode'),
      join(STATE, folder),
    ])
  const credentials = passCredentials(service, user, unit.get('LoadCredential') ?? [])
  const environment = (unit.get('Environment') ?? []).map((setting) => setting.replaceAll('%d', credentials))
  const command = ['-u', user, '--', 'env', '-i', `PATH=${PATH}`, ...environment, ...one('ExecStart').split(' ')]
  const log = openSync(join(SANDBOX, `${service}.log`), 'a')
  const child = spawn('runuser', command, {
    cwd: one('WorkingDirectory'),
    detached: true,
    stdio: ['ignore', log, log],
  })
  writeFileSync(pidFile(service), String(child.pid))
  if (one('Type') !== 'oneshot') return child.unref()
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0)
    throw new Error(`${service} ended with ${code}: ${readFileSync(join(SANDBOX, `${service}.log`), 'utf8')}`)
}

/** Ends the process group: runuser, and the server that it started. */
async function stop(service: string): Promise<void> {
  if (!existsSync(pidFile(service))) return
  const pid = Number(readFileSync(pidFile(service), 'utf8'))
  rmSync(pidFile(service))
  const deadline = performance.now() + STOP_LIMIT_MS
  for (let signal: NodeJS.Signals | 0 = 'SIGTERM'; ; signal = 0) {
    try {
      process.kill(-pid, signal)
    } catch {
      return
    }
    if (performance.now() > deadline) throw new Error(`${service} did not stop.`)
    await delay(50)
  }
}

/** The settings of the unit and of its drop-in files, each with all of its values. */
function readUnit(service: string): ReadonlyMap<string, readonly string[]> {
  const files = [join(UNITS, `${service}.service`), ...globSync(join(UNITS, `${service}.service.d`, '*.conf'))]
  const settings = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/^([A-Z]\w+)=(.*)$/gm)])
  return new Map(
    [...Map.groupBy(settings, ([, key = '']) => key)].map(([key, found]) => [
      key,
      found.map(([, , value = '']) => value),
    ]),
  )
}

/** Returns the folder of the credentials (systemd.exec(5)): read-only, with files that only the user of the service can read. */
function passCredentials(service: string, user: string, credentials: readonly string[]): string {
  const folder = join(STATE, 'credentials', service)
  if (existsSync(folder)) execFileSync('umount', [folder])
  mkdirSync(folder, { recursive: true })
  execFileSync('mount', ['--bind', folder, folder])
  for (const credential of credentials) {
    const [id = '', path = ''] = credential.split(':')
    execFileSync('install', ['-m', '0400', '-o', user, path, join(folder, id)])
  }
  execFileSync('mount', ['-o', 'remount,ro,bind', folder])
  return folder
}

function pidFile(service: string): string {
  return join(SANDBOX, `${service}.pid`)
}
