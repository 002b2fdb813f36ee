import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import starlight from '@astrojs/starlight'
import { defineConfig, passthroughImageService } from 'astro/config'
import { finishPages } from './finish.ts'
import { NAVIGATION } from './navigation.ts'

const { homepage } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

export default defineConfig({
  ...(homepage === undefined ? {} : { site: homepage }),
  image: { service: passthroughImageService() },
  integrations: [
    starlight({
      title: 'Grantor',
      sidebar: NAVIGATION,
      customCss: ['./src/styles/palette.css', './src/styles/site.css'],
      expressiveCode: {
        // There is no grammar for it.
        shiki: { langAlias: { promql: 'txt' } },
        defaultProps: { frame: 'none' },
        styleOverrides: { borderRadius: '8px', borderColor: 'var(--line)', codeFontSize: '0.84375rem' },
      },
      // Short pages about one thing come before long ones that name it often.
      pagefind: { ranking: { pageLength: 0.5, termFrequency: 0.1, termSaturation: 1.2 } },
      credits: false,
      lastUpdated: false,
    }),
    {
      name: 'finish',
      hooks: { 'astro:build:done': ({ dir }) => finishPages(fileURLToPath(dir)) },
    },
  ],
})
