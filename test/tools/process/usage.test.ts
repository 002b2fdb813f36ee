import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCores, parseBytes, parseCpuMs, readUsage } from '../../../tools/process/usage.ts'

const AFTER_NAME = 'S 1 4242 4242 0 -1 4194304 2000 0 3 0 150 25 7 9 20 0 12 0 777 1234567 8910 18446744073709551615'

test('proc(5): processor time is user and system time, without that of children', () => {
  assert.equal(parseCpuMs(`4242 (node) ${AFTER_NAME}\n`), 1750)
})

test('proc(5): a command may have spaces and parentheses in its name', () => {
  assert.equal(parseCpuMs(`4242 (a) S 9 (b) ${AFTER_NAME}\n`), 1750)
})

test('a text that is not /proc/<pid>/stat is refused', () => {
  assert.throws(() => parseCpuMs('4242 (node) S 1'))
  assert.throws(() => parseBytes('Name:\tnode\n', 'VmRSS'))
})

test('resident and anonymous memory are read in kilobytes', () => {
  assert.equal(parseBytes('VmSize:\t   9 kB\nVmRSS:\t    2048 kB\nRssAnon:\t 1 kB\n', 'VmRSS'), 2_097_152)
  assert.equal(parseBytes('VmRSS:\t 2048 kB\nRssAnon:\t 1 kB\n', 'RssAnon'), 1024)
})

test('less than a tick of processor time is counted', () => {
  const before = readUsage(process.pid)?.cpuMs ?? 0
  const until = process.threadCpuUsage().user + 3000
  while (process.threadCpuUsage().user < until);
  const used = (readUsage(process.pid)?.cpuMs ?? 0) - before
  assert.ok(used >= 3 && used % 10 !== 0, String(used))
})

test('the usage of an ended process is undefined', () => {
  assert.equal(readUsage(2 ** 30), undefined)
})

test('a list of cores has numbers and ranges', () => {
  assert.deepEqual(parseCores('0-2,5,7-8\n'), [0, 1, 2, 5, 7, 8])
  assert.deepEqual(parseCores('0'), [0])
  assert.deepEqual(parseCores(''), [])
})
