import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { accentColours, contrast } from '../../src/web/accent.ts'
import type { Scheme } from '../../src/web/accent.ts'
import { stylesheet } from '../../src/web/stylesheet.ts'

const light: Scheme = { backgrounds: ['#f5f6f8', '#ffffff'], ink: '#000000', distinct: 1.2 }
const dark: Scheme = { backgrounds: ['#0d0f12', '#16191e'], ink: '#ffffff', distinct: 2 }

const steps = [0, 51, 102, 119, 127, 153, 204, 255]
const accents = steps.flatMap((red) => steps.flatMap((green) => steps.map((blue) => hex(red, green, blue))))

function hex(...channels: readonly number[]): string {
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
}

function assertReadable(accent: string, scheme: Scheme): void {
  const { fill, fillHover, fillText, ink } = accentColours(accent, scheme)
  assert.ok(contrast(fillText, fill) >= 4.5, `button text on ${fill} for ${accent}`)
  assert.ok(contrast(fillText, fillHover) >= 4.5, `button text on ${fillHover} for ${accent}`)
  for (const background of scheme.backgrounds) {
    assert.ok(contrast(ink, background) >= 4.5, `${ink} on ${background} for ${accent}`)
    assert.ok(contrast(fill, background) >= scheme.distinct, `${fill} vanishes into ${background} for ${accent}`)
  }
}

test('WCAG 1.4.3: every accent gives readable buttons, links and focus rings in both schemes', () => {
  for (const accent of accents) for (const scheme of [light, dark]) assertReadable(accent, scheme)
  const colour = fc.nat({ max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`)
  fc.assert(fc.property(colour, fc.constantFrom(light, dark), assertReadable), { numRuns: 2000 })
})

test('contrast is 21 between black and white and 1 between equals', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21)
  assert.equal(contrast('#ffffff', '#000000'), 21)
  assert.equal(contrast('#3b5bdb', '#3b5bdb'), 1)
})

test('an accent that is readable already is used as it is', () => {
  const { fill, ink } = accentColours('#0b57d0', light)
  assert.deepEqual({ fill, ink }, { fill: '#0b57d0', ink: '#0b57d0' })
})

test('an accent that is not #rrggbb is rejected', () => {
  for (const accent of ['red', '#fff', '#12345g', '#123456;}', ' #123456', '#123456\n', '']) {
    assert.throws(() => stylesheet(accent), /#rrggbb/)
  }
})

test('the stylesheet loads nothing from the network', () => {
  assert.doesNotMatch(stylesheet('#3b5bdb'), /url\(|@import|@font-face|image-set|https?:|<|\r/)
})
