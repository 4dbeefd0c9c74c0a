// The preview contract for a stack whose entry point is the one of core.ts.

import { toArtifacts as generate } from './core'
import { toGeneratorConfigMap } from './generators'

export const toArtifacts = ({ api, settings, basePath }) =>
  ({ artifacts: generate({ documentObject: api, settings: { ...settings, basePath }, toGeneratorConfigMap }).artifacts })
