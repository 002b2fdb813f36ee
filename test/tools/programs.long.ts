import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { promisify } from 'node:util'

for (const kind of ['bench', 'prove'])
  test(`each program of "npm run ${kind}" gets its options, and has a description and a usage`, async () => {
    for (const file of globSync(`${kind}/*/run.ts`)) {
      const [, name = ''] = file.split('/')
      const { stdout } = await promisify(execFile)(process.execPath, [`${kind}/run.ts`, name, '--help'])
      assert.match(stdout, new RegExp(`^\\S.+\n\nnpm run ${kind} ${name} -- \\[options\\]`))
    }
  })
