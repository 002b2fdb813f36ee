import { SETTINGS } from '../settings.ts'

/** A setting as the schema describes it. */
interface Setting {
  readonly name: string
  readonly meaning: string
  readonly fallback: string
}

const WIDTH = 100
const INDENT = 6

/** Every setting with its meaning and default, for `grantor serve --help`. */
export function settingsHelp(): string {
  const settings = listSettings().flatMap(({ name, meaning, fallback }) => [
    `  ${name}`,
    ...wrap(`${meaning} Default: ${fallback}.`),
  ])
  return ['Settings, from the environment or the file that GRANTOR_CONFIG names:', ...settings].join('\n')
}

/** The whole of docs/configuration.md. */
export function settingsDocument(): string {
  const rows = listSettings().map(
    ({ name, meaning, fallback }) =>
      `| \`${name}\` | ${meaning.replaceAll('<', '&lt;')} | ${codeUnlessWords(fallback)} |`,
  )
  return [
    '# Configuration',
    '',
    'Made by `npm run docs` from the schema in `src/settings.ts`; `grantor serve --help` prints the same.',
    '',
    'Settings are environment variables, or `NAME=value` lines in the file that `GRANTOR_CONFIG` names; the environment',
    'wins. Unset and empty mean the default. All mistakes are reported at once, and the server does not start with one.',
    '`grantor doctor` checks them, and everything that depends on them.',
    '',
    '| Setting | Meaning | Default |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

/** Read from the schema: the default is what it makes of nothing, or, where that depends on others, what it says in words. */
function listSettings(): readonly Setting[] {
  return Object.entries(SETTINGS.shape).map(([name, schema]) => {
    const { description = '' } = schema
    const [meaning = '', computed] = description.split(/ Default: (.+)\.$/)
    const value: unknown = schema.safeParse(undefined).data
    return { name, meaning, fallback: computed ?? formatDefault(value) }
  })
}

function formatDefault(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(',')
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'none')
}

function codeUnlessWords(fallback: string): string {
  return fallback === 'none' || fallback.includes(' ') ? fallback : `\`${fallback}\``
}

function wrap(text: string): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > WIDTH - INDENT) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].map((one) => ' '.repeat(INDENT) + one)
}
