import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseDockerfile, type Stage } from './dockerfile.ts'

/** An image that was made without a container engine. */
export interface Image {
  /** Its files. */
  readonly root: string
  /** Starts the image with a command, as `docker run --read-only` does, over the folder of a volume. */
  readonly run: (volume: string, command: readonly string[], env: Readonly<Record<string, string>>) => ChildProcess
  /** The command of the image, and that of its health check. */
  readonly command: readonly string[]
  readonly healthCheck: readonly string[]
  readonly entrypoint: readonly string[]
  /** Makes the folder of a volume with the files that the image has there, as an engine does for a new volume. */
  readonly createVolume: (folder: string) => void
}

/** What the steps have set so far. */
interface State {
  folder: string
  user: string
  env: Record<string, string>
  words: Partial<Record<'entrypoint' | 'cmd' | 'healthcheck', readonly string[]>>
}

const ENTER = fileURLToPath(new URL('./enter.sh', import.meta.url))
const PATH = '/usr/local/bin:/usr/bin:/bin'

/**
 * Executes the steps of a Dockerfile in a folder, each command with that folder as its root. The base images are stood in for by the
 * programs of this machine, with the Node.js of this checkout.
 *
 * @throws Error if a step fails
 */
export function buildImage(dockerfile: string, context: string, folder: string): Image {
  const base = join(folder, 'base')
  mkdirSync(base)
  cpSync(process.execPath, join(base, 'node'))
  const npm = execFileSync('sh', ['-c', 'readlink -f "$(command -v npm)"'], { encoding: 'utf8' }).trim()
  writeFileSync(join(base, 'npm'), `#!/bin/sh\nexec node ${npm} "$@"\n`, { mode: 0o755 })
  const roots = new Map<string | undefined, string>()
  let state: State | undefined
  for (const [index, stage] of parseDockerfile(readFileSync(dockerfile, 'utf8')).entries()) {
    const root = join(folder, `stage-${index}`)
    mkdirSync(root)
    roots.set(stage.name, root)
    state = buildStage(stage, { root, base, context, roots })
  }
  const [root, last] = [roots.get(undefined), state]
  if (root === undefined || last === undefined) throw new Error(`${dockerfile} has no last stage without a name.`)
  const { entrypoint = [], cmd = [], healthcheck = [] } = last.words
  return {
    root,
    entrypoint,
    command: [...entrypoint, ...cmd],
    healthCheck: healthcheck,
    createVolume: (volume) => void execFileSync('cp', ['-a', join(root, 'data'), volume]),
    run: (volume, command, env) =>
      spawn(...entering(root, last, volume, command), {
        env: { PATH, BASE: base, ...last.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
  }
}

interface Building {
  readonly root: string
  readonly base: string
  readonly context: string
  readonly roots: ReadonlyMap<string | undefined, string>
}

function buildStage({ steps }: Stage, { root, base, context, roots }: Building): State {
  const state: State = { folder: '/', user: '0:0', env: {}, words: {} }
  for (const step of steps) {
    switch (step.kind) {
      case 'workdir':
        state.folder = step.value
        mkdirSync(join(root, step.value), { recursive: true })
        break
      case 'user':
        state.user = step.value
        break
      case 'env':
        state.env = { ...state.env, ...step.values }
        break
      case 'copy': {
        const from = step.from === undefined ? context : roots.get(step.from)
        if (from === undefined) throw new Error(`There is no stage ${step.from}.`)
        for (const source of step.sources) copy(join(from, source), place(root, state.folder, step.target), step)
        break
      }
      case 'run':
        execFileSync(...entering(root, state, '', ['/bin/sh', '-c', step.command]), {
          env: { PATH, BASE: base, HOME: '/tmp', ...state.env },
          stdio: ['ignore', 'ignore', 'pipe'],
        })
        break
      case 'entrypoint':
      case 'cmd':
      case 'healthcheck':
        state.words[step.kind] = step.words
        break
      case 'expose':
      case 'volume':
      case 'stopsignal':
      case 'label':
    }
  }
  rmSync(join(root, 'tmp'), { recursive: true, force: true })
  return state
}

function place(root: string, folder: string, target: string): string {
  return join(root, target.startsWith('/') ? target : join(folder, target))
}

/** A folder is copied with its content; a file into a folder, if the target ends with a slash or several files are copied. */
function copy(
  source: string,
  target: string,
  { sources, target: written }: { sources: readonly string[]; target: string },
): void {
  const isInto = written.endsWith('/') || sources.length > 1
  cpSync(source, isInto ? join(target, basename(source)) : target, { recursive: true, verbatimSymlinks: true })
}

function entering(root: string, { user, folder }: State, volume: string, words: readonly string[]): [string, string[]] {
  return ['unshare', ['--mount', 'sh', ENTER, root, user, folder, volume, ...words]]
}
