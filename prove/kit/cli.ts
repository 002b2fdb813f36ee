#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Account } from './browser.ts'
import { ALL_CASES } from './cases/all.ts'
import { DRIVERS, type Driver } from './drivers.ts'
import { judge, Refused, type Judged } from './judge.ts'
import { exitCodeOf, FORMATS, list, report, type Format } from './report.ts'

/** `grantor-prove`: judges an issuer. See prove/kit/README.md. */

const USAGE = `grantor-prove <issuer> [options]

  --person <name>           a test user of the issuer; without one, what needs a sign-in is skipped
  --password-file <file>    the password of that user
  --driver <name>           how the pages are filled in: ${Object.keys(DRIVERS).join(', ')} (generic)
  --address <url>           a second address of the same issuer
  --restart <command>       kills the issuer and starts it again; it ends as soon as that is done
  --only <case>             one case; may be repeated
  --format <format>         ${FORMATS.join(', ')} (text)
  --seed <text>             the same names and verifiers as in the run with this seed
  --i-own-this              the issuer has a public address, and is yours
  --list                    lists the cases
`

/** Of each race. One alone often has no two requests at once within the issuer. */
const ROUNDS = 5

class Usage extends Error {}

interface Asked extends Omit<Judged, 'onInterrupt'> {
  readonly format: Format
}

function readAsked(): Asked | 'help' | 'list' {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      person: { type: 'string' },
      'password-file': { type: 'string' },
      driver: { type: 'string', default: 'generic' },
      address: { type: 'string' },
      restart: { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
      format: { type: 'string', default: 'text' },
      seed: { type: 'string', default: randomBytes(4).toString('hex') },
      'i-own-this': { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return 'help'
  if (values.list) return 'list'
  const [issuer, ...others] = positionals
  if (issuer === undefined || others.length > 0) throw new Usage('Name one issuer.')
  const unknown = values.only.filter((id) => !ALL_CASES.some((one) => one.id === id))
  if (unknown.length > 0) throw new Usage(`There is no case ${unknown.join(', ')}: see --list.`)
  const { restart: command } = values
  return {
    issuer: readAddress(issuer),
    second: values.address === undefined ? undefined : readAddress(values.address),
    driver: readDriver(values.driver),
    account: readAccount(values.person, values['password-file']),
    restart: command === undefined ? undefined : () => runCommand(command),
    rounds: ROUNDS,
    only: values.only,
    seed: values.seed,
    isOwn: values['i-own-this'],
    format: readFormat(values.format),
  }
}

function readAddress(text: string): URL {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new Usage(`${text} is no http or https address.`)
  return new URL(text)
}

function readDriver(name: string): Driver {
  const driver = DRIVERS[name]
  if (driver === undefined) throw new Usage(`There is no driver ${name}.`)
  return driver
}

function readFormat(name: string): Format {
  const format = FORMATS.find((one) => one === name)
  if (format === undefined) throw new Usage(`There is no format ${name}.`)
  return format
}

function readAccount(name: string | undefined, file: string | undefined): Account | undefined {
  if (name === undefined && file === undefined) return undefined
  if (name === undefined || file === undefined) throw new Usage('--person and --password-file belong together.')
  return { name, password: readFileSync(file, 'utf8').replace(/\r?\n$/, '') }
}

/** Nothing of what the command starts can hold the run: it has no output of it. */
async function runCommand(command: string): Promise<void> {
  const [code] = (await once(spawn(command, { shell: true, stdio: 'ignore' }), 'exit')) as [number | null]
  if (code !== 0) throw new Error(`--restart ended with ${String(code)}`)
}

async function main(): Promise<number> {
  const asked = readAsked()
  if (asked === 'help' || asked === 'list') {
    console.log(asked === 'help' ? USAGE : list(ALL_CASES))
    return 0
  }
  const judgement = await judge({
    ...asked,
    onInterrupt: (remove) =>
      void process.once('SIGINT', () => {
        void remove().then((left) => {
          console.error(`Interrupted. Clients left at the issuer: ${left}`)
          process.exit(130)
        })
      }),
  })
  console.log(report(judgement, asked.format))
  return exitCodeOf(judgement)
}

process.exitCode = await main().catch((cause: unknown) => {
  const { message, code } = cause as NodeJS.ErrnoException
  const isUsage = cause instanceof Usage || code?.startsWith('ERR_PARSE_ARGS') === true
  console.error(isUsage ? `${message}\n\n${USAGE}` : `grantor-prove: ${message}`)
  return cause instanceof Refused || isUsage ? 2 : 3
})
