import type { Attributes } from "@opentelemetry/api";

const OPERATION_TYPES = { add: "send", run: "process" } as const;

/** Attributes of OpenTelemetry's conventions for messaging, where a task is the destination and a job the message. */
export function messagingAttributes(operation: "add" | "run", taskId: string, jobId: string | null): Attributes {
  return {
    "messaging.system": "escapement",
    "messaging.operation.name": operation,
    "messaging.operation.type": OPERATION_TYPES[operation],
    "messaging.destination.name": taskId,
    ...(jobId === null ? {} : { "messaging.message.id": jobId }),
  };
}
