/** Dragging inside a drawing: positions come in the drawing's own coordinates, one hand at a time. */

export interface Drag {
  readonly start?: (x: number, y: number, target: EventTarget | null) => boolean;
  readonly move: (x: number, y: number) => void;
  readonly end: () => void;
}

export function draggable(node: SVGSVGElement, drag: Drag): void {
  let held: number | null = null;
  const at = (event: PointerEvent): [number, number] => {
    const box = node.getBoundingClientRect();
    const view = node.viewBox.baseVal;
    return [
      ((event.clientX - box.left) / box.width) * view.width,
      ((event.clientY - box.top) / box.height) * view.height
    ];
  };
  node.addEventListener('pointerdown', event => {
    if (held !== null || event.button !== 0) {
      return; // a second finger does not take over
    }
    const [x, y] = at(event);
    if (drag.start?.(x, y, event.target) === false) {
      return;
    }
    held = event.pointerId;
    node.setPointerCapture(held);
    event.preventDefault();
    drag.move(x, y);
  });
  node.addEventListener('pointermove', event => {
    if (event.pointerId === held) {
      drag.move(...at(event));
    }
  });
  const release = (event: PointerEvent): void => {
    if (event.pointerId === held) {
      held = null;
      drag.end();
    }
  };
  node.addEventListener('pointerup', release);
  node.addEventListener('pointercancel', release);
}
