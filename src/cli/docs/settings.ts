import * as z from 'zod'
import { TEXTS_BYTES } from '../../config/texts.ts'
import { SECRET_SETTINGS, SETTINGS } from '../../config/schema.ts'
import { fileSettingOf } from '../../config/secret-files.ts'

/** A setting as the schema describes it. */
interface Setting {
  readonly name: string
  readonly meaning: string
  readonly fallback: string
}

const WIDTH = 100
const INDENT = 6

const SECRET_FILES = [
  '## Secrets in files',
  '',
  'Containers and systemd ([`LoadCredential=`](operations/install.md#the-secret-in-a-credential-of-systemd)) pass secrets in files. The name',
  'of such a setting ends in `_FILE`, and the file has the secret on one line:',
  `${SECRET_SETTINGS.map((name) => `\`${fileSettingOf(name)}\``).join(', ')};`,
  'and for commands `GRANTOR_ADMIN_TOKEN_FILE`.',
  '',
  'The server and the commands do not start if',
  '',
  '- the setting and its `_FILE` are both set;',
  '- the file is missing, empty or not a regular file, or has more than one line;',
  '- a user other than root and the user of the process owns the file, or other users may write to it;',
  '- other users may read it. On a read-only mount its group may read the file, and if everyone may, the log has a warning.',
  '',
]

const POSTGRESQL = [
  '## DATABASE_URL of a PostgreSQL',
  '',
  '`postgres://<user>:<password>@<host>:<port>/<database>` names one host and one database of PostgreSQL 14 or newer, encoded',
  'in UTF-8; the default port is 5432. In a user or password `@ : / ? # %` are written `%40 %3A %2F %3F %23 %25`. A',
  'socket is given by its folder: `postgres:///grantor?host=/run/postgresql`. Parameters are passed to the driver unchanged:',
  '',
  '- none, `sslmode=disable`: no TLS: for a socket, this machine, or a trusted network',
  '- `sslmode=verify-full`: TLS; the certificate must be valid and name the host. Use this across a network',
  '- `sslmode=require`, `verify-ca`, `prefer`: as `verify-full`, with a warning at start: the driver is stricter than libpq',
  '- `sslmode=no-verify`: TLS without verification of the server: protects from listeners, not from impostors',
  '- `sslrootcert=<file>`: the CA, when it is not a public CA',
  '- `sslcert=<file>`, `sslkey=<file>`: the client certificate of this node, when PostgreSQL requires one',
  '- `options=…`: is rejected: it would replace settings that Grantor makes on each connection',
  '',
  'The role owns the database, or may select, insert, update and delete in its tables while `grantor migrate` runs as the owner.',
  '',
]

const TEXTS = [
  '## Texts of your own',
  '',
  `\`GRANTOR_TEXTS\` names a JSON file of at most ${TEXTS_BYTES / 1024} KB with texts of the pages and mails, by language and id:`,
  '',
  '```json',
  '{ "en": { "signIn": "Log in", "continueTo": "to go on to {client}" }, "de": { "signIn": "Einloggen" } }',
  '```',
  '',
  'The ids, and the texts that they replace, are in [`src/texts/en.json`](../src/texts/en.json). A name in braces is a slot, which the server fills. A text with',
  '`{count}` may have a form for each plural category of the language, such as `account.recoveryLeft.one`. All texts are escaped, so they contain no HTML.',
  'The server does not start with an unknown language, id or slot, and names each.',
  '',
]

/** Every setting with its meaning and default, for `grantor serve --help`. */
export function settingsHelp(): string {
  const settings = listSettings().flatMap(({ name, meaning, fallback }) => [
    `  ${name}`,
    ...wrap(`${meaning} Default: ${fallback}.`),
    ...(SECRET_SETTINGS.includes(name) ? wrap(`Or ${fileSettingOf(name)}: the file that contains it.`) : []),
  ])
  return ['Settings, from the environment or the file that GRANTOR_CONFIG names:', ...settings].join('\n')
}

/** The whole of docs/configuration.md. */
export function settingsDocument(): string {
  const rows = listSettings().map(({ name, meaning, fallback }) =>
    `- \`${name}\` (${codeUnlessWords(fallback)}): ${meaning}`
      .replaceAll(/`[^`]*`|</g, (part) => (part === '<' ? '&lt;' : part))
      .replaceAll(/docs\/([\w/-]+\.md)/g, '[$1]($1)'),
  )
  return [
    '# Configuration',
    '',
    '`grantor serve --help` prints the same; `grantor doctor` checks the settings and what depends on them.',
    '',
    'Settings are environment variables, or `NAME=value` lines in the file that `GRANTOR_CONFIG` names; the environment',
    'has priority. Unset and empty mean the default. All errors are reported at once, and the server does not start with one.',
    '',
    'In the file a line may begin with `export`, and one with `#` is a comment. A value may be in single, double or backward quotes; without them a `#`',
    'ends the value. In double quotes `\\n` is a line feed. Variables such as `$HOME` are not expanded.',
    '',
    'Each setting with its default, and in square brackets the range of a number:',
    '',
    ...rows,
    '',
    ...SECRET_FILES,
    ...POSTGRESQL,
    ...TEXTS,
  ].join('\n')
}

/** Reads the schema. The default is the output of the schema for undefined, or, when it depends on other settings, the text after `Default:`. */
function listSettings(): readonly Setting[] {
  return Object.entries(SETTINGS.shape).map(([name, schema]) => {
    const { description = '' } = schema
    const [meaning = '', computed] = description.split(/ Default: (.+)\.$/)
    const value: unknown = schema.safeParse(undefined).data
    const range = rangeOf(schema)
    const bounds = range === undefined ? '' : ` [${range.minValue}–${range.maxValue}]`
    return { name, meaning: `${meaning}${bounds}`, fallback: computed ?? formatDefault(value) }
  })
}

/** The number in a schema, which may have a default or be one of several. */
function rangeOf(schema: unknown): z.ZodNumber | undefined {
  if (schema instanceof z.ZodNumber) return schema
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return rangeOf(schema.unwrap())
  if (schema instanceof z.ZodPipe) return rangeOf(schema.in)
  return schema instanceof z.ZodUnion ? schema.options.map(rangeOf).find((one) => one !== undefined) : undefined
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
