export { assign, type LocalAssignment } from './assign.ts'
export {
  createExperiments,
  type ExperimentReader,
  type Experiments,
  type ExperimentsOptions,
} from './experiments.ts'
