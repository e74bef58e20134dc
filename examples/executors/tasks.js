// What the threads and processes of the programs beside this file run: they import this module. JavaScript, because
// Node before 22.18 loads no TypeScript.
import { currentJob, defineTasks } from "escapement";

export const tasks = defineTasks({
  // Computes, and says how far it is. The scheduler's own event loop goes on meanwhile.
  countPrimes: {
    handler: ({ below }, { progress, signal, logger }) => {
      let count = 0;
      for (let number = 2; number < below; number++) {
        if (number % 1000 === 0) progress(number / below);
        // In a thread, this becomes true although the handler lets no message in.
        if (signal.aborted) throw signal.reason;
        if (isPrime(number)) count++;
      }
      logger.info(`counted the primes below ${below} for job ${currentJob()?.job.id}`);
      return count;
    },
  },
  // Never looks at its signal.
  neverEnds: {
    handler: () => {
      for (;;);
    },
  },
  // Takes its process along.
  crashes: {
    handler: () => process.exit(3),
  },
});

function isPrime(number) {
  for (let divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor === 0) return false;
  return true;
}
