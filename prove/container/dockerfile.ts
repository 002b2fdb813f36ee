/** A stage of a Dockerfile, with its steps in order. */
export interface Stage {
  readonly base: string
  readonly name: string | undefined
  readonly steps: readonly Step[]
}

/** A step that changes the files or the settings of the image. */
export type Step =
  | { readonly kind: 'workdir' | 'user'; readonly value: string }
  | { readonly kind: 'env'; readonly values: Readonly<Record<string, string>> }
  | {
      readonly kind: 'copy'
      readonly from: string | undefined
      readonly sources: readonly string[]
      readonly target: string
    }
  | { readonly kind: 'run'; readonly command: string }
  /** Says how the image is started. */
  | { readonly kind: 'entrypoint' | 'cmd' | 'healthcheck'; readonly words: readonly string[] }
  | { readonly kind: 'expose' | 'volume' | 'stopsignal' | 'label'; readonly value: string }

/**
 * Reads the instructions that the Dockerfile of this repository uses.
 * https://docs.docker.com/reference/dockerfile/
 *
 * @throws Error on any other instruction, and on any other form of a known one
 */
export function parseDockerfile(text: string): readonly Stage[] {
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const stages: (Omit<Stage, 'steps'> & { readonly steps: Step[] })[] = []
  for (const line of lines) {
    const [, instruction = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
    if (instruction === 'FROM') {
      const [, base, name] = /^(\S+)(?: AS (\S+))?$/.exec(rest) ?? refuse(line)
      stages.push({ base: base ?? '', name, steps: [] })
    } else (stages.at(-1) ?? refuse(line)).steps.push(stepOf(instruction, rest, line))
  }
  return stages
}

function stepOf(instruction: string, rest: string, line: string): Step {
  switch (instruction) {
    case 'WORKDIR':
      return { kind: 'workdir', value: absolute(rest, line) }
    case 'USER':
      return /^\d+:\d+$/.test(rest) ? { kind: 'user', value: rest } : refuse(line)
    case 'ENV':
      return { kind: 'env', values: Object.fromEntries(rest.split(' ').map((pair) => pairOf(pair, line))) }
    case 'COPY':
      return copyOf(rest, line)
    case 'RUN':
      return rest.startsWith('-') || rest.startsWith('[') ? refuse(line) : { kind: 'run', command: rest }
    case 'ENTRYPOINT':
      return { kind: 'entrypoint', words: wordsOf(rest, line) }
    case 'CMD':
      return { kind: 'cmd', words: wordsOf(rest, line) }
    case 'HEALTHCHECK':
      return { kind: 'healthcheck', words: wordsOf(rest.replace(/^(--[a-z-]+=\w+ )*CMD /, ''), line) }
    case 'EXPOSE':
    case 'VOLUME':
    case 'STOPSIGNAL':
    case 'LABEL':
      return { kind: instruction.toLowerCase() as 'expose' | 'volume' | 'stopsignal' | 'label', value: rest }
    default:
      return refuse(line)
  }
}

function copyOf(rest: string, line: string): Step {
  const words = rest.split(/\s+/)
  const flags = words.filter((word) => word.startsWith('--'))
  const from = flags.map((flag) => /^--from=(\w+)$/.exec(flag)?.[1] ?? refuse(line))[0]
  const paths = words.slice(flags.length)
  const target = paths.pop()
  if (target === undefined || paths.length === 0 || paths.some((path) => /[*?]/.test(path))) return refuse(line)
  return { kind: 'copy', from, sources: paths, target }
}

function pairOf(pair: string, line: string): readonly [string, string] {
  const [, name, value] = /^(\w+)=([^"'$]+)$/.exec(pair) ?? refuse(line)
  return [name ?? '', value ?? '']
}

function wordsOf(text: string, line: string): readonly string[] {
  return text.startsWith('[') ? (JSON.parse(text) as readonly string[]) : refuse(line)
}

function absolute(path: string, line: string): string {
  return /^\/[\w/]*$/.test(path) ? path : refuse(line)
}

function refuse(line: string): never {
  throw new Error(`This form of an instruction is not known: ${line}`)
}
