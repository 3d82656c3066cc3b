"""Two tries at one task, and what each strategy of experience tells of them before the next. No model, no key."""

from mnemic import Memory
from mnemic.strategies.trajectories import ActionStep, Trajectory

TASK = "Polish the bronze bowl"
SHELF = ActionStep("go to cellar", "There is a shelf.")
FAILED = Trajectory(
    task=TASK, steps=(SHELF, ActionStep("rub bronze bowl with chalk", "The chalk spoils it.")), succeeded=False
)
DONE = Trajectory(task=TASK, steps=(SHELF, ActionStep("rub bronze bowl with vinegar", "It shines.")), succeeded=True)

print(FAILED.text)
for name in ("reflexion", "expel", "skills", "reme", "gmemory"):
    with Memory("memory:", strategies=[name], embedder="none") as memory:
        me = memory.scope(user="agent")
        for tried in (FAILED, DONE):
            me.observe(tried.text, role="tool")
            memory.flush()
        print(f"-- {name}")
        for told in me.recall(TASK, by=name):
            print(" / ".join(told.text.splitlines()))
