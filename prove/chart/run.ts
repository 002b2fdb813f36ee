import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { flag, names, readOptions } from '../../tools/options.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { CHART, firstLine, objectsOf, renderedPath, VALUE_FILES, valuesPath, type ValueFile } from './chart.ts'

/** The Helm chart without a cluster: linted, rendered, decoded into the types of the Kubernetes API. See docs/proofs.md. */

const HELM = { v3: 'helm.sh/helm/v3/cmd/helm@v3.22.0', v4: 'helm.sh/helm/v4/cmd/helm@v4.3.1' } as const
/** The oldest release that the chart is for. Helm that was built by `go install` knows no other. */
const KUBERNETES = '1.30.0'
/** What a strict decoder must refuse. */
const PLANTED = 'apiVersion: v1\nkind: Service\nmetadata: { name: planted }\nspec: { port: 80 }\n'

const { helm, write } = readOptions({
  helm: names('the releases of Helm that are built', ['v3', 'v4'], 'all'),
  write: flag('write deploy/helm/rendered, with the first of these releases, instead of comparing'),
})

beginSession()
const findings = openFindings()
const folder = openFolder()
let isWritten = !write
for (const release of helm) {
  findings.progress(`go install ${HELM[release]}`)
  const bin = join(folder, `helm-${release}`)
  capture('go', ['install', HELM[release]], { env: { GOBIN: bin } })
  proveRelease(join(bin, 'helm'), release)
}
findings.progress('go build prove/chart/decode')
const decoder = join(folder, 'decode')
capture('go', ['build', '-mod=readonly', '-o', decoder, '.'], { cwd: 'prove/chart/decode' })
const planted = join(folder, 'planted.yaml')
writeFileSync(planted, PLANTED)
if (attempt(decoder, [planted]) !== undefined) findings.report('An object with an unknown member was decoded.')
const decoded = attempt(decoder, VALUE_FILES.map(renderedPath), report)
const count = decoded?.trim().split('\n').length ?? 0
if (count < 4 * VALUE_FILES.length) findings.report(`Only ${count} objects were decoded.`)
printReport(CHART, [`Helm ${helm.join(' and ')}: ${VALUE_FILES.length} files, ${count} objects decoded`], findings)

function proveRelease(program: string, release: keyof typeof HELM): void {
  const template = ['template', 'grantor', CHART, '--namespace', 'grantor', '--kube-version', KUBERNETES]
  for (const name of VALUE_FILES) {
    const values = ['-f', valuesPath(name)]
    attempt(program, ['lint', '--strict', '--kube-version', KUBERNETES, CHART, ...values], report)
    const text = attempt(program, [...template, ...values], report)
    if (text !== undefined) compare(name, release, text)
  }
  isWritten = true
  let refusal = ''
  attempt(program, [...template, '-f', valuesPath('postgres'), '--set', 'replica=2'], (cause) => {
    refusal = String(cause)
  })
  if (!/additional propert.*replica/i.test(refusal))
    findings.report(`Helm ${release} accepts an unknown value. ${refusal}`)
}

/** Releases of Helm may differ in comments and empty lines, so the objects are compared. */
function compare(name: ValueFile, release: string, text: string): void {
  const path = renderedPath(name)
  if (!isWritten) return writeFileSync(path, `${firstLine(name)}\n${text.replace(/^---\n/, '')}`)
  const committed = readFileSync(path, 'utf8')
  if (committed.split('\n', 1)[0] !== firstLine(name)) findings.report(`${path} was rendered of other templates.`)
  if (!isDeepStrictEqual(byKind(committed), byKind(text))) findings.report(`Helm ${release} renders ${path} otherwise.`)
}

function byKind(text: string): readonly string[] {
  return objectsOf(text)
    .map((object) => JSON.stringify(object))
    .toSorted()
}

function report(cause: unknown): void {
  findings.report(String(cause))
}

/** What a program prints; undefined: it failed. */
function attempt(
  program: string,
  words: readonly string[],
  onFailure: (cause: unknown) => void = () => undefined,
): string | undefined {
  try {
    return capture(program, words)
  } catch (cause) {
    onFailure(cause)
    return undefined
  }
}

/** Runs a program to its end. Returns what it prints. @throws Error if it is not installed, or with its output if it fails */
function capture(
  program: string,
  words: readonly string[],
  { cwd, env = {} }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): string {
  const options = { cwd, encoding: 'utf8', env: { ...process.env, ...env } } as const
  const { error, status, stdout, stderr } = spawnSync(program, words, options)
  if (error !== undefined) throw new Error(`This proof needs ${program}, which is not installed.`, { cause: error })
  if (status !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${status}:\n${stdout}${stderr}`)
  return stdout
}
